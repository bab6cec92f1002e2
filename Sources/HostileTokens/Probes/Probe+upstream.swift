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

    /// Whether a request that arrived with the first marker holds a text anywhere.
    ///
    /// - Returns: false also if nothing arrived; what arrives later is not waited for.
    func hasArrived(_ text: String, in marker: Marker) async throws -> Bool {
        let wanted = Array(text.utf8)
        return try await arrivals(of: marker.value).contains { $0.firstRange(of: wanted) != nil }
    }
}
