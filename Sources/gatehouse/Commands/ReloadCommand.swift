import AdminAPI
import ArgumentParser
import AsyncHTTPClient
import EdgeConfiguration
import Experience
import NIOCore
import NIOHTTP1

/// `gatehouse reload`: has the running gateway read its configuration again, through its admin listener. Exits with
/// status 1 if no gateway answers or `server.admin` is off, and with 2 if the gateway refuses the configuration.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Has the running gateway read its configuration again.",
        discussion: """
            The file that --config names is checked first, and says where server.admin is; the gateway reads the file \
            that it was started with, so name the same. Sockets and requests in progress go on. Exits 0 when the configuration is in use, \
            1 when no gateway answers at server.admin, 2 when the configuration is refused, which changes nothing.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: .init("The gateway's admin listener; default: server.admin.", valueName: "host:port"))
    var admin: String?

    func run() async throws {
        var source = ConfigurationSource(file: options.file)
        source.flags = admin.map { [ConfigurationFlag(name: "--admin", key: "server.admin", value: $0)] } ?? []
        let configuration = try source.load().configuration
        guard let address = configuration.server.admin else {
            throw CommandFailure("server.admin is off, so no gateway can be asked: send SIGHUP to its process")
        }
        let (status, text) = try await ask(address)
        switch status {
        case 200 where text.hasPrefix(ReloadOutcome.reloaded(needRestart: []).text):
            Terminal.answer(ErrorText.oneLine(text))
        case 409: throw CommandFailure(ErrorText.oneLine(text), status: .misused)
        default: throw CommandFailure("what listens at \(address) is no gateway that reloads: it answers \(status)")
        }
    }

    /// Sends `POST /reload` to the admin listener. The answer comes when the reload is done, which may take 30 seconds.
    ///
    /// - Throws: ``CommandFailure`` if nothing answers there.
    private func ask(_ address: ListenAddress) async throws(CommandFailure) -> (status: UInt, text: String) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A gateway that is not there is told of at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer = await Self.result { try await Self.ask(address, client) }
        try? await client.shutdown()
        do {
            return try answer.get()
        } catch {
            throw CommandFailure("no gateway answers at \(address): is it running, and is server.admin right?")
        }
    }

    /// The result of a call, so that the client can be shut down before an error is thrown.
    private static func result<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    /// Sends the request to the admin listener, and returns status and body of its answer.
    private static func ask(_ address: ListenAddress, _ client: HTTPClient) async throws -> (UInt, String) {
        let url =
            address.path.map { path in
                "http+unix://\(path.replacing("%", with: "%25").replacing("/", with: "%2F"))/reload"
            } ?? "http://\(address)/reload"
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        // The client names no host for a Unix socket, and HTTP/1.1 wants one (RFC 9112 section 3.2).
        if address.path != nil { request.headers.add(name: "Host", value: "localhost") }
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 64 * 1024)
        return (response.status.code, String(buffer: body))
    }
}
