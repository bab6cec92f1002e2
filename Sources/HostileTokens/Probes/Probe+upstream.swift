extension Probe {
    /// A probe of what arrives at the suite's own upstream, byte for byte, after a good request has arrived there. Its
    /// conversation is given the path of the upstream's route.
    static func upstream(
        _ id: String, _ title: String, _ reference: String, expected: String, needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation, String) async throws -> Judgement
    ) -> Probe {
        Probe(id, title, reference: reference, expected: expected, needs: [.canary, .token] + needs) { talk in
            guard talk.keepsBytes else { throw Unfit("takes a connection of its own over HTTP/1.1") }
            try await talk.checkArrival()
            return try await converse(talk, try talk.canaryRoute())
        }
    }
}

extension Conversation {
    /// A request to the suite's own upstream, as text.
    ///
    /// - Parameters:
    ///   - rest: the path and the query behind the route.
    ///   - fields: lines with their ends, the credentials among them.
    func canaryRequest(
        _ rest: String, method: String = "GET", fields: String, closes: Bool = true, body: String = ""
    ) throws -> RawRequest {
        RawRequest(
            text: "\(method) \(try canaryRoute())\(rest) HTTP/1.1\r\nHost: \(target.authority)\r\n\(fields)"
                + (closes ? "Connection: close\r\n" : "") + "\r\n\(body)")
    }

    /// A request without a token that asks for the end of the connection, as text.
    ///
    /// It is sent behind an attack whose requests would leave the connection open: when the target closes it, it has
    /// dealt with all that came before, or refused it.
    func lastRequest() throws -> String {
        "GET \(try canaryRoute()) HTTP/1.1\r\nHost: \(target.authority)\r\nConnection: close\r\n\r\n"
    }

    /// Whether a request with this text in its request line arrives at the suite's own upstream.
    ///
    /// A good request is sent behind the attack: what the attack has left on its way there, or on a connection that is
    /// used again, comes with it or before it.
    ///
    /// - Throws: as ``exchange(_:_:)``, if the good request is not answered.
    func arrives(_ text: String) async throws -> Bool {
        if try await !arrivals(of: text).isEmpty { return true }
        _ = try await arrival(Marker())
        return try await !arrivals(of: text).isEmpty
    }

    /// Whether a request that arrived with the first marker holds a text anywhere.
    ///
    /// - Returns: false also if nothing arrived; what arrives later is not waited for.
    func hasArrived(_ text: String, in marker: Marker) async throws -> Bool {
        let wanted = Array(text.utf8)
        return try await arrivals(of: marker.value).contains { $0.firstRange(of: wanted) != nil }
    }
}
