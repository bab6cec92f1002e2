/// Bytes that were sent on one connection, and what came back: the evidence of a verdict.
public struct Exchange: Sendable, Equatable {
    /// What it was for, such as `attack`.
    public let label: String
    /// Every byte that was sent.
    public let sent: [UInt8]
    /// What was received, at most `receivedLimit` bytes of it.
    public let received: [UInt8]
    /// The status that was answered; nil if there was none.
    public let status: Int?
    /// Why there was no answer, or how the connection ended.
    public let note: String?

    /// How much of an answer is kept.
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
