/// P: what arrives at a recording upstream, which the status of the answer does not show.
enum UpstreamProbes {
    static let all: [Probe] = spoofed + paths + smuggled

    // MARK: P05 to P07, P15: headers that the gateway sets

    /// P05 to P07, P15: fields by which upstreams learn who calls must come from the gateway alone.
    ///
    /// A field fails the case if it arrives with the attacker's text, under any spelling that an upstream would turn
    /// into the same variable (RFC 3875 section 4.1.18). A refused request passes.
    private static let spoofed: [Probe] =
        [
            spelled("exact", "as it stands") { $0 },
            spelled("capitals", "in capitals") { $0.uppercased() },
            spelled("underscores", "with underscores") { $0.replacing("-", with: "_") },
            spelled("dots", "with dots") { $0.replacing("-", with: ".") },
            spelled("one-underscore", "with one underscore") { name in
                guard let dash = name.lastIndex(of: "-") else { return nil }
                return name[..<dash] + "_" + name[name.index(after: dash)...]
            },
        ]
        + knownNames.map { name in
            probe("P05-spoof-\(name.lowercased())", "\(name) from outside", "CVE-2024-45410, GHSA-7x63") { talk in
                let marker = Marker()
                let arrived = try await talk.arrival(marker, fields: "\(name): \(marker.value)\r\n")
                return arrived.map { head in
                    head.contains { $0.value.contains(marker.value) && Head.alias($0.name) == Head.alias(name) }
                        ? .failed("it arrived at the upstream") : .passed("it did not arrive at the upstream")
                } ?? .passed("the request was refused")
            }
        }
        + [
            probe("P07-connection", "the gateway's own header named by Connection", "CVE-2024-45410") { talk in
                guard talk.keepsBytes else { throw Unfit("takes a connection of its own over HTTP/1.1") }
                let names = try await talk.ownNames()
                let marker = Marker()
                let list = (["close"] + names).joined(separator: ", ")
                guard let head = try await talk.arrival(marker, fields: "Connection: \(list)\r\n", closes: false) else {
                    return .passed("the request was refused")
                }
                return head.judged(has: names)
            },
            probe("P15-token-leak", "the good token on its way to the upstream", "RFC 9700 §4.9.1") { talk in
                let marker = Marker()
                guard let head = try await talk.arrival(marker), let token = talk.token else {
                    throw Unjudged("nothing arrived at the suite's own upstream")
                }
                let text = String(decoding: token, as: UTF8.self)
                return head.contains { $0.value.contains(text) }
                    ? .failed("the upstream was given the caller's token")
                    : .passed("the upstream was not given the token")
            },
        ]

    /// Names that upstreams are commonly set up to trust, whether the target adds them or not.
    private static let knownNames = [
        "X-Auth-User", "X-Auth-Request-User", "X-User", "X-User-Id", "X-Remote-User", "Remote-User",
        "X-WebAuth-User", "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username",
        "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Uri",
        "X-Forwarded-Method", "X-Forwarded-Server", "Forwarded", "X-Real-IP", "X-Original-URL", "X-Rewrite-URL",
        "X-HTTP-Method-Override",
    ]

    /// Sends the header names that the target adds itself, in another spelling.
    private static func spelled(
        _ name: String, _ title: String, _ change: @escaping @Sendable (String) -> String?
    ) -> Probe {
        probe("P06-spelling-\(name)", "the gateway's own headers from outside, \(title)", "CVE-2025-64484") { talk in
            let names = try await talk.ownNames()
            for own in names {
                guard let spelling = change(own) else { continue }
                let marker = Marker()
                let head = try await talk.arrival(marker, fields: "\(spelling): \(marker.value)\r\n")
                if let head,
                    head.contains(where: { $0.value.contains(marker.value) && Head.alias($0.name) == Head.alias(own) })
                {
                    return .failed("\(spelling) arrived at the upstream")
                }
            }
            return .passed("none of \(names.count) arrived at the upstream")
        }
    }

    // MARK: P08: paths

    /// P08, P09, P12: the protected path in another spelling or under another method, without a token. Passed if
    /// nothing arrives at the upstream, whatever the target answers.
    private static let paths: [Probe] =
        [
            path("double-slash", "two slashes") { "/" + $0 }, path("dot", "a dot segment") { "/." + $0 },
            path("dot-dot", "a detour") { "/public/.." + $0 },
            path("dot-dot-encoded", "an encoded detour") { "/public/%2e%2e" + $0 },
            path("slash-encoded", "an encoded slash") { "/public/..%2f" + $0.dropFirst() },
            path("backslash", "a backslash") { "/public\\.." + $0 },
            path("capitals", "capitals") { $0.uppercased() == $0 ? nil : $0.uppercased() },
            path("letter-encoded", "an encoded letter") { path in
                path.utf8.last.map { path.dropLast() + "%" + String($0, radix: 16) }
            },
            path("absolute", "the absolute form of another host") { "http://public.invalid" + $0 },
            path("overlong", "a detour with dots in two bytes each") { "/public/%c0%ae%c0%ae" + $0 },
            path("backslash-encoded", "a detour with an encoded backslash") { "/public%5c.." + $0 },
            // P09: rules that match in the middle or at the end of a path.
            path(row: "P09", "below-public", "a public word below it") { $0 + "/public" },
            path(row: "P09", "below-health", "a health check's path below it") { $0 + "/healthz" },
            path(row: "P09", "below-style", "a style sheet below it") { $0 + "/x.css" },
        ]
        + ["HEAD", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"].map { method in
            let name = method == "get" ? "lowercase" : method.lowercased()
            return path(row: "P12", name, "the method \(method)", method) { $0 }
        }

    private static func path(
        row: String = "P08", _ name: String, _ title: String, _ method: String = "GET",
        _ change: @escaping @Sendable (String) -> String?
    ) -> Probe {
        Probe(
            "\(row)-upstream-\(name)", "the upstream's path without a token, with \(title)",
            reference: "CVE-2021-29492, GHSA-p224-6x5r-fjpm", expected: "nothing arrives at the upstream",
            needs: [.canary, .token]
        ) { talk in
            guard let path = change(try talk.canaryRoute()) else { throw Unfit("does not fit the path") }
            try await talk.checkArrival()
            let marker = Marker()
            _ = try await talk.attempt(
                "attack",
                RawRequest(
                    text: "\(method) \(path)?\(marker.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n"
                        + "Connection: close\r\n\r\n"))
            return try await talk.arrivals(of: marker.value).isEmpty
                ? .passed("nothing arrived at the upstream") : .failed("it arrived at the upstream without a token")
        }
    }

    // MARK: P01 to P03: smuggling

    /// P01 to P03: a body whose end two parsers find at different places, and behind it a request without a token.
    ///
    /// Such a message is to be refused, or its connection closed behind it (RFC 9112 section 6.3). Failed if the hidden
    /// request arrives, or fields that could be read in two ways. Where nothing does, the target has to have closed the
    /// connection, because of the attack or of the last request behind it.
    private static let smuggled: [Probe] = [
        smuggle(
            "length-and-coding", "Content-Length and chunked", "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n"),
        smuggle(
            "coding-and-length", "chunked and Content-Length", "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n"),
        smuggle("length-twice", "two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"),
        smuggle(
            "coding-vertical-tab", "a vertical tab before chunked",
            "Content-Length: 6\r\nTransfer-Encoding: \u{B}chunked\r\n"),
        smuggle("coding-unknown", "xchunked and a length", "Content-Length: 6\r\nTransfer-Encoding: xchunked\r\n"),
        smuggle(
            "coding-twice", "chunked and identity",
            "Content-Length: 6\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
        smuggle("coding-space", "a space before the colon", "Content-Length: 6\r\nTransfer-Encoding : chunked\r\n"),
        smuggle("coding-folded", "chunked on a folded line", "Content-Length: 6\r\nTransfer-Encoding:\r\n chunked\r\n"),
        smuggle("chunk-size", "a chunk size with 0x", "Transfer-Encoding: chunked\r\n", body: "0x0\r\n\r\n"),
        smuggle(
            "chunk-extension", "a line feed in a chunk extension", "Transfer-Encoding: chunked\r\n",
            body: "0;a\nb\r\n\r\n"),
        smuggle("chunk-plus", "a chunk size with a plus", "Transfer-Encoding: chunked\r\n", body: "+0\r\n\r\n"),
        smuggle("length-plus", "a length with a plus", "Content-Length: +5\r\n"),
        smuggle("length-equal", "the same length twice", "Content-Length: 5\r\nContent-Length: 5\r\n"),
        smuggle("length-equal-list", "the same length twice in one field", "Content-Length: 5, 5\r\n"),
        smuggle("length-overflow", "a length of more than 64 bits", "Content-Length: 18446744073709551621\r\n"),
        smuggle("coding-list", "chunked and identity in one field", lengthFive + "chunked, identity\r\n"),
        smuggle("coding-identity", "identity and a length", lengthFive + "identity\r\n"),
        smuggle("chunk-space", "a space behind a chunk size", chunked, body: "0 \r\n\r\n"),
        smuggle("chunk-line-feed", "a line feed alone behind a chunk size", chunked, body: "0\n\r\n"),
        smuggle(
            "chunk-carriage-return", "a carriage return in a chunk extension", chunked, body: "0;a\rb\r\n\r\n"),
        smuggle(
            "chunk-overflow", "a chunk size of more than 64 bits", chunked, body: "10000000000000000\r\n\r\n"),
    ]

    private static let lengthFive = "Content-Length: 5\r\nTransfer-Encoding: "
    private static let chunked = "Transfer-Encoding: chunked\r\n"

    /// Sends the ambiguous request, the hidden one and a last one in one packet.
    ///
    /// - Parameters:
    ///   - lines: the framing fields, with their line ends.
    ///   - body: what stands between the head and the hidden request.
    private static func smuggle(_ name: String, _ title: String, _ lines: String, body: String = "0\r\n\r\n") -> Probe {
        Probe(
            "P01-smuggle-\(name)", "a request behind another's body: \(title)", reference: "RFC 9112 §11.2",
            expected: "one reading of where the body ends", needs: [.canary, .token]
        ) { talk in
            let route = try talk.canaryRoute()
            try await talk.checkArrival()
            let (first, second) = (Marker(), Marker())
            let fields = try talk.credentialFields()
            let hidden = "GET \(route)?\(second.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n\r\n"
            let last = try talk.lastRequest()
            let stream = try await talk.open(
                "attack",
                RawRequest(
                    text:
                        "POST \(route)?\(first.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n\(fields)\(lines)\r\n"
                        + body + hidden + last))
            let doubt = await stream.receiveToEnd().doubt
            for bytes in try await talk.arrivals(of: first.value) {
                if let fault = Head(bytes).framingFault ?? Head.chunkFault(bytes) {
                    return .failed("\(fault) arrived at the upstream")
                }
            }
            return try await talk.arrives("?\(second.value) HTTP/1.")
                ? .failed("the hidden request arrived at the upstream, without a token")
                : doubt ?? .passed("nothing of two readings arrived at the upstream")
        }
    }

    private static func probe(
        _ id: String, _ title: String, _ reference: String,
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: reference, expected: "the upstream sees what the gateway says",
            needs: [.canary, .token, .assertion], converse)
    }
}

/// A random text that identifies one request.
///
/// It is "m" and up to 13 letters and digits, so it is the same in a path, a query and a field.
struct Marker: Sendable {
    let value: String

    init() {
        value = "m" + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}

extension Conversation {
    /// The path that is routed to the suite's own upstream.
    func canaryRoute() throws -> String {
        guard let route = target.canaryPath else { throw Unfit(Need.canary.absence) }
        return route
    }

    /// Throws unless a valid request arrives at the suite's own upstream.
    func checkArrival() async throws {
        guard try await arrival(Marker()) != nil else { throw Unjudged("the good request did not arrive") }
    }

    /// Sends a request with the valid token, or with another, to the suite's own upstream, and returns its head as it
    /// arrived; nil if it did not arrive.
    ///
    /// - Parameters:
    ///   - fields: further lines with their ends.
    ///   - closes: whether `Connection: close` is added; false if `fields` has a `Connection`.
    func arrival(
        _ marker: Marker, fields: String = "", closes: Bool = true, token: [UInt8]? = nil
    ) async throws -> Head? {
        let route = try canaryRoute()
        let credentials = try credentialFields(token)
        _ = try await attempt(
            "attack",
            RawRequest(
                text: "GET \(route)?\(marker.value) HTTP/1.1\r\nHost: \(target.authority)\r\n\(credentials)\(fields)"
                    + (closes ? "Connection: close\r\n" : "") + "\r\n"))
        return try await arrivals(of: marker.value).first.map { Head($0) }
    }

    /// The names of the headers that the target adds: those that a valid request arrives with and was not sent with.
    ///
    /// - Throws: ``Unjudged`` if the request did not arrive, ``Unfit`` if the target adds no field beyond the usual
    ///   ones.
    func ownNames() async throws -> [String] {
        guard let head = try await arrival(Marker()) else {
            throw Unjudged("nothing arrived at the suite's own upstream: is it the upstream of the canary's route?")
        }
        let usual: Set<String> = [
            "host", "connection", "accept", "accept-encoding", "user-agent", "authorization", "cookie",
            "content-length",
            "transfer-encoding", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port",
            "x-forwarded-server", "x-request-id", "x-real-ip", "forwarded", "via", "traceparent", "tracestate",
            "x-gatehouse-assertion", target.carrierName?.lowercased() ?? "",
        ]
        let names = head.map(\.name).filter { !usual.contains($0) }
        guard !names.isEmpty else { throw Unfit("the target adds no header that says who calls") }
        return names
    }
}
