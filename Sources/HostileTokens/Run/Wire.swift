/// A connection to the target for several requests.
public protocol WireStream: Sendable {
    /// Sends bytes as they are.
    func send(_ bytes: [UInt8]) async throws

    /// Returns what was received since the last call, as soon as `isEnough` returns true, the connection has ended, or
    /// the time is over.
    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool)

    /// Closes the connection.
    func close() async

    /// Whether more came than is read. Then it is unknown whether the target would have ended the connection.
    var hasOverflowed: Bool { get }
}

extension WireStream {
    /// By default everything is read.
    public var hasOverflowed: Bool { false }
}

/// How requests are sent to the target.
public struct Wire: Sendable {
    /// Sends one request on a new connection and returns the answer.
    public var send: @Sendable (RawRequest) async throws -> RawResponse
    /// Opens a connection; nil over HTTP/2, where requests have none of their own.
    public var open: (@Sendable () async throws -> any WireStream)?
    /// Whether requests travel over HTTP/2, and those that begin with its preface as the frames that they are.
    package var isHTTP2 = false
    /// How long an answer on such a connection may take.
    public var timeout: Duration = .seconds(10)
    /// The requests that the suite's own upstream received with this text in the request line.
    public var arrivals: (@Sendable (String) async -> [[UInt8]])?

    /// A wire.
    public init(
        send: @escaping @Sendable (RawRequest) async throws -> RawResponse,
        open: (@Sendable () async throws -> any WireStream)? = nil,
        arrivals: (@Sendable (String) async -> [[UInt8]])? = nil
    ) {
        self.send = send
        self.open = open
        self.arrivals = arrivals
    }
}
