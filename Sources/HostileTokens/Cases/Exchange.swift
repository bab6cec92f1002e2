/// The bytes sent and received on one connection, as evidence for a verdict.
public struct Exchange: Sendable, Equatable {
    /// The purpose, such as `attack`.
    public let label: String
    /// All bytes that were sent.
    public let sent: [UInt8]
    /// The first ``receivedLimit`` bytes that were received.
    public let received: [UInt8]
    /// The status of the answer; nil if there was none.
    public let status: Int?
    /// Why there was no answer, or how the connection ended.
    public let note: String?

    /// The number of received bytes that are kept.
    public static let receivedLimit = 16 * 1024

    /// An exchange.
    public init(label: String, sent: [UInt8], received: [UInt8], status: Int?, note: String? = nil) {
        self.label = label
        self.sent = sent
        self.received = Array(received.prefix(Self.receivedLimit))
        self.status = status
        self.note = note
    }

    init(_ label: String, _ request: RawRequest, _ outcome: Result<RawResponse, SendFailure>) {
        switch outcome {
        case .success(let response):
            self.init(label: label, sent: request.bytes, received: response.bytes, status: response.status)
        case .failure(let failure):
            self.init(label: label, sent: request.bytes, received: [], status: nil, note: failure.description)
        }
    }
}
