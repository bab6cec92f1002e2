/// A connection to the target that stays open for as long as a conversation needs it.
public protocol WireStream: Sendable {
    /// Sends bytes as they are.
    func send(_ bytes: [UInt8]) async throws

    /// Everything received since the last call, once `isEnough` says so, the connection has ended, or time is up.
    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool)

    /// Ends the connection.
    func close() async
}

/// What a conversation is held over.
public struct Wire: Sendable {
    /// Sends one request on a connection of its own and gives back the answer.
    public var send: @Sendable (RawRequest) async throws -> RawResponse
    /// Opens a connection; nil where there are none, as over HTTP/2.
    public var open: (@Sendable () async throws -> any WireStream)?
    /// What the suite's own upstream has received: requests whose bytes hold the text.
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
