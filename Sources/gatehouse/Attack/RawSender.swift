import HostileTokens

/// Sends the bytes of one request on a new connection and reads the answer leniently.
struct RawSender: Sendable {
    let connector: Connector
    /// Whether requests are converted to HTTP/2 frames. Cases that need a connection of their own are left out then.
    let usesHTTP2: Bool
    /// `--timeout`: how long an answer may take to end, from its request on.
    var timeout: Duration = .seconds(10)

    /// What the suite sends with: single requests, and connections of its own where it is HTTP/1.1.
    var wire: Wire {
        var wire = Wire { try await send($0) }
        wire.isHTTP2 = usesHTTP2
        wire.timeout = timeout
        if !usesHTTP2 { wire.open = { try await connector.open() } }
        return wire
    }

    /// Sends a request on a connection of its own, and returns what came of it until the answer was complete or the
    /// time was over.
    func send(_ request: RawRequest) async throws -> RawResponse {
        guard usesHTTP2 || request.frames == nil else {
            throw SendFailure(.unreadable, "the request is one of HTTP/2: add --http2")
        }
        let stream = try await connector.open()
        defer { Task { await stream.close() } }
        if usesHTTP2 {
            return try await HTTP2Exchange(request, isSecure: connector.tls != nil).run(over: stream, within: timeout)
        }
        try await stream.send(request.bytes)
        let received = await stream.receive(within: timeout) { RawResponse(parsing: $0)?.isComplete ?? false }
        if var response = RawResponse(parsing: received.bytes) {
            response.isCut = !received.hasEnded && !response.isComplete
            return response
        }
        throw Self.failure(received.bytes, received.hasEnded, stream.fault)
    }

    /// Why there is no answer.
    static func failure(_ bytes: [UInt8], _ hasEnded: Bool, _ fault: String?) -> SendFailure {
        if let fault {
            let advice = fault.contains("certificate") ? ": give --ca, or --insecure for a test's own" : ""
            return SendFailure(.unreachable, "no TLS connection: \(fault)\(advice)")
        }
        guard bytes.count <= Inbox.limit else {
            return SendFailure(
                .unreadable, "more than \(Quantity.size(Inbox.limit)) came back, and no head of an answer")
        }
        if !hasEnded { return SendFailure(.timedOut, "no answer in time") }
        return bytes.isEmpty
            ? SendFailure(.closed, "the connection ended without an answer")
            : SendFailure(.unreadable, "what came back is no HTTP answer")
    }
}
