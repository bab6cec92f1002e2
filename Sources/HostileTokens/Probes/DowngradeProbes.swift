/// H03: requests of HTTP/2 that turn into others where they are passed on over HTTP/1.1.
enum DowngradeProbes {
    static let all: [Probe] = hidden + lines + readings

    // MARK: A request within another

    /// A field or a body that becomes framing, and so a second request, when it is written as HTTP/1.1 (RFC 9113
    /// section 10.3).
    ///
    /// Over HTTP/2 a body ends with its stream; `transfer-encoding` is forbidden there (RFC 9113 section 8.2.2).
    private static let hidden: [Probe] = [
        hides("length", "a body that goes on after its Content-Length") { request, path in
            request.add("content-length", "0")
            request.body = body(path)
        },
        hides("coding", "Transfer-Encoding: chunked") { request, path in
            request.add("transfer-encoding", "chunked")
            request.body = lastChunk + body(path)
        },
        hides("coding-capitals", "Transfer-Encoding in capitals") { request, path in
            request.add("Transfer-Encoding", "chunked")
            request.body = lastChunk + body(path)
        },
        hides("coding-in-value", "Transfer-Encoding behind a line break in a value") { request, path in
            request.add("x-any", "a\r\ntransfer-encoding: chunked")
            request.body = lastChunk + body(path)
        },
        hides("path-request", "a request behind a line break in the path") { request, path in
            request.change(":path") { "\($0) HTTP/1.1\r\nHost: any.invalid\r\n\r\nGET \(path)" }
        },
        hides("method-request", "a request in the method") { request, path in
            request.change(":method") { "GET \(path) HTTP/1.1\r\nHost: any.invalid\r\n\r\n\($0)" }
        },
    ]

    private static let lastChunk = Array("0\r\n\r\n".utf8)

    private static func body(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: any.invalid\r\n\r\n".utf8)
    }

    /// A request that hides another one without a token. Failed if that arrives, or fields that could be read in two
    /// ways.
    ///
    /// - Parameter change: puts the second request, for the path it gets, into the first.
    private static func hides(
        _ name: String, _ title: String, _ change: @escaping @Sendable (inout FramedRequest, String) -> Void
    ) -> Probe {
        probe(name, "a request hidden in another: \(title)") { talk, route in
            let (first, second) = (Marker(), Marker())
            var request = try talk.http2Request("POST", "\(route)?\(first.value)")
            change(&request, "\(route)?\(second.value)")
            return try await talk.attack(request) {
                guard try await talk.arrivals(of: "?\(second.value) HTTP/1.").isEmpty else {
                    return .failed("the hidden request arrived at the upstream, without a token")
                }
                for bytes in try await talk.arrivals(of: first.value) {
                    if let fault = Head(bytes).framingFault { return .failed("\(fault) arrived at the upstream") }
                }
                return .passed("nothing of two readings arrived at the upstream")
            }
        }
    }

    // MARK: A line within another

    /// A line break or colon that makes a field of its own of a part of another (RFC 9113 section 8.2.1).
    private static let lines: [Probe] = [
        adds("value", "a line break in a value") { $0.add("x-any", "a\r\n" + $1) },
        adds("value-line-feed", "a line feed alone in a value") { $0.add("x-any", "a\n" + $1) },
        adds("name", "a line break in a name") { $0.add("x-any: a\r\n\($1)\r\nx-other", "a") },
        adds("name-colon", "a name with a colon") { $0.add($1, "a") },
        adds("path", "a line break in the path") { request, line in
            request.change(":path") { "\($0) HTTP/1.1\r\n\(line)\r\nx-any: a" }
        },
        adds("authority", "a line break in the authority") { request, line in
            request.change(":authority") { "\($0)\r\n\(line)" }
        },
    ]

    /// A request that hides a field. Failed if it arrives on a line of its own.
    ///
    /// - Parameter change: puts the line it gets into the request, which carries a valid token.
    private static func adds(
        _ name: String, _ title: String, _ change: @escaping @Sendable (inout FramedRequest, String) -> Void
    ) -> Probe {
        probe(name, "a header field hidden in \(title)") { talk, route in
            let (marker, hidden) = (Marker(), Marker())
            var request = try talk.http2Request("GET", "\(route)?\(marker.value)")
            let line = "x-hidden: \(hidden.value)"
            change(&request, line)
            return try await talk.attack(request) {
                let start = Array("\n\(line)".utf8)
                return try await talk.arrivals(of: marker.value).contains { $0.firstRange(of: start) != nil }
                    ? .failed("it arrived at the upstream as a field of its own")
                    : .passed("it did not arrive at the upstream as a field of its own")
            }
        }
    }

    // MARK: Two readings

    /// Heads that are malformed in HTTP/2 and could be read in two ways: two hosts, two paths, fields in trailers and
    /// in `connection`.
    private static let readings: [Probe] = [
        probe("host", "a Host that differs from the authority", "RFC 9113 §8.3.1") { talk, route in
            let marker = Marker()
            var request = try talk.http2Request("GET", "\(route)?\(marker.value)")
            request.add("host", "attacker.invalid")
            return try await talk.attack(request) {
                let heads = try await talk.arrivals(of: marker.value).map { Head($0) }
                let hosts = heads.flatMap(\.fields).filter { $0.name == "host" }
                return hosts.contains { $0.value == "attacker.invalid" }
                    ? .failed("the upstream was told the other host")
                    : .passed("the upstream was not told the other host")
            }
        },
        probe("path-twice", "two paths") { talk, route in
            let (first, second) = (Marker(), Marker())
            var request = try talk.http2Request("GET", "\(route)?\(first.value)")
            request.fields.insert((Array(":path".utf8), Array("\(route)?\(second.value)".utf8)), at: 0)
            return try await talk.attack(request) {
                let arrived = try await talk.arrivals(of: first.value) + talk.arrivals(of: second.value)
                return arrived.isEmpty
                    ? .passed("nothing arrived at the upstream") : .failed("one of them arrived at the upstream")
            }
        },
        probe("trailer-identity", "the gateway's own headers as trailers", "RFC 9110 §6.5.1", [.assertion]) {
            talk, route in
            let names = try await talk.ownNames() + ["x-auth-user", "remote-user"]
            let (marker, hidden) = (Marker(), Marker())
            var request = try talk.http2Request("POST", "\(route)?\(marker.value)")
            request.trailers = names.map { (Array($0.utf8), Array(hidden.value.utf8)) }
            return try await talk.attack(request) {
                let value = Array(hidden.value.utf8)
                return try await talk.arrivals(of: marker.value).contains { $0.firstRange(of: value) != nil }
                    ? .failed("they arrived at the upstream") : .passed("they did not arrive at the upstream")
            }
        },
        probe("connection", "the gateway's own header named by Connection", "CVE-2024-45410", [.assertion]) {
            talk, route in
            let (names, marker) = (try await talk.ownNames(), Marker())
            var request = try talk.http2Request("GET", "\(route)?\(marker.value)")
            request.add("connection", names.joined(separator: ", "))
            return try await talk.attack(request) {
                guard let head = try await talk.arrivals(of: marker.value).first.map({ Head($0) }) else {
                    return .passed("nothing arrived at the upstream")
                }
                return head.judged(has: names)
            }
        },
    ]

    private static func probe(
        _ name: String, _ title: String, _ reference: String = "RFC 9113 §8.1.1, §10.3", _ needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation, String) async throws -> Judgement
    ) -> Probe {
        Probe(
            "H03-downgrade-\(name)", "over HTTP/2, \(title)", reference: reference,
            expected: "refused, and never passed on", needs: [.canary, .token] + needs
        ) { talk in
            guard talk.isHTTP2 else { throw Unfit("is about HTTP/2: run with --http2") }
            try await talk.checkArrival()
            return try await converse(talk, try talk.canaryRoute())
        }
    }
}

extension Conversation {
    /// A request with the valid token.
    fileprivate func http2Request(_ method: String, _ path: String) throws -> FramedRequest {
        let (name, value) = try credentialField()
        var request = FramedRequest(fields: [])
        request.add(":method", method)
        request.add(":scheme", target.isSecure ? "https" : "http")
        request.add(":path", path)
        request.add(":authority", target.authority)
        request.add(name.lowercased(), value)
        return request
    }

    /// Sends a request, and a good one after it, so that all that was passed on has arrived when it is judged. A target
    /// that does not answer may have passed on the request all the same.
    fileprivate func attack(
        _ request: FramedRequest, _ judge: () async throws -> Judgement
    ) async throws -> Judgement {
        var silence: SendFailure?
        do {
            _ = try await attempt("attack", RawRequest(request))
        } catch let failure as SendFailure where failure.code == .timedOut {
            silence = failure
        }
        try await checkArrival()
        let judgement = try await judge()
        if let silence, judgement.verdict == .passed { throw silence }
        return judgement
    }
}
