/// H: requests whose body is another request, which a target must never answer or pass on as one.
enum DesyncProbes {
    /// H01: the outer request is refused, asks for nothing that exists, is a GET or would wait for 100: a target may
    /// leave its body unread, and take it for the next request.
    static let all: [Probe] = [
        desync("refused", "a request that is refused, with a good request as its body") { _, route in
            ("POST", route, "")
        },
        desync("missing", "a request for what does not exist, with a good request as its body") { _, _ in
            ("POST", "/" + Marker().value, "")
        },
        desync("get", "a GET with a good request as its body") { talk, route in
            ("GET", route, try talk.credentialFields())
        },
        desync("expect", "a good request as the body of one that would wait for 100") { talk, route in
            ("POST", route, try talk.credentialFields() + "Expect: 100-continue\r\n")
        },
        probe("H02-trailer-identity", "the gateway's own headers as trailers", "RFC 9110 §6.5.1", [.assertion]) {
            talk, route in
            let names = try await talk.ownNames() + ["X-Auth-User", "Remote-User"]
            let (marker, hidden) = (Marker(), Marker())
            let trailers = names.map { "\($0): \(hidden.value)\r\n" }.joined()
            _ = try await talk.attempt(
                "attack",
                RawRequest(
                    text: "POST \(route)?\(marker.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n"
                        + "\(try talk.credentialFields())Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                        + "0\r\n\(trailers)\r\n"))
            let arrived = try await talk.arrivals(of: marker.value)
            return arrived.contains { $0.firstRange(of: Array(hidden.value.utf8)) != nil }
                ? .failed("they arrived at the upstream") : .passed("they did not arrive at the upstream")
        },
    ]

    /// H01: a request whose body is another, good one. Failed if that arrives at the upstream as a request. Where it
    /// does not, the target has to have closed the connection, because of it or of the last request behind it.
    ///
    /// - Parameter first: the method, path and further lines of the outer request, whose length is right.
    private static func desync(
        _ name: String, _ title: String,
        _ first: @escaping @Sendable (Conversation, String) throws -> (method: String, path: String, fields: String)
    ) -> Probe {
        probe("H01-desync-\(name)", title, "RFC 9112 §11.2, CWE-444") { talk, route in
            let hidden = Marker()
            let body =
                "GET \(route)?\(hidden.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n"
                + "\(try talk.credentialFields())\r\n"
            let (method, path, fields) = try first(talk, route)
            let last = try talk.lastRequest()
            let stream = try await talk.open(
                "attack",
                RawRequest(
                    text: "\(method) \(path) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n\(fields)"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)\(last)"))
            let doubt = await stream.receiveToEnd().doubt
            return try await talk.arrives("?\(hidden.value) HTTP/1.")
                ? .failed("the body arrived at the upstream as a request")
                : doubt ?? .passed("the body stayed a body")
        }
    }

    private static func probe(
        _ id: String, _ title: String, _ reference: String, _ needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation, String) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: reference, expected: "one reading of where the body ends",
            needs: [.canary, .token] + needs
        ) { talk in
            guard talk.keepsBytes else { throw Unfit("takes a connection of its own over HTTP/1.1") }
            try await talk.checkArrival()
            return try await converse(talk, try talk.canaryRoute())
        }
    }
}
