import Foundation

/// A gateway that a test talks to over its sockets: a ``GatewayInProcess``, or a ``GatewayProcess`` where the test is
/// about the program itself.
protocol GatewayUnderTest: AnyObject, Sendable {
    /// Where its configuration, state and keys are.
    var directory: URL { get }
    /// `http://127.0.0.1:PORT` (or https, or `unix:/PATH`).
    var origin: String { get }
    /// 0 for a Unix socket.
    var port: Int { get }
    /// What it has logged so far.
    var log: String { get }

    /// Starts a gateway in a folder of its own.
    ///
    /// - Parameters:
    ///   - configuration: YAML; `server.listen`, `server.admin` and `log` need not be in it.
    ///   - users: accounts to make first.
    ///   - environment: what overrides the file, by its variables' names.
    ///   - directory: a folder to start again in.
    static func start(
        _ configuration: String, users: [TestUser], environment: [String: String], directory: URL?, listen: String
    ) async throws -> Self

    /// Lets it drain and waits for its end.
    ///
    /// - Returns: the exit status; 0 when all went well.
    @discardableResult
    func stop() -> Int32
}

/// A gateway or a command did something other than what the test needs to go on.
struct GatewayFailure: Error, CustomStringConvertible { let description: String }

extension GatewayUnderTest {
    typealias Failure = GatewayFailure

    /// The port of an origin; 0 for a Unix socket, nil for what is no origin.
    static func port(of origin: String) -> Int? {
        origin.hasPrefix("unix:/") ? 0 : origin.split(separator: ":").last.flatMap { Int($0) }
    }
}
