/// P: what arrives at a recording upstream, which the status of the answer does not show.
enum UpstreamProbes {
    static let all: [Probe] = spoofed + paths + smuggled

    // MARK: P05 to P07, P15: headers that the gateway sets

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

    private static let knownNames = [
        "X-Auth-User", "X-Auth-Request-User", "X-User", "X-User-Id", "X-Remote-User", "Remote-User",
        "X-WebAuth-User", "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username",
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

    private static let paths: [Probe] = [
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
    ]

    private static func path(
        _ name: String, _ title: String, _ change: @escaping @Sendable (String) -> String?
    ) -> Probe {
        Probe(
            "P08-upstream-\(name)", "the upstream's path without a token, with \(title)",
            reference: "CVE-2021-29492, GHSA-p224-6x5r-fjpm", expected: "nothing arrives at the upstream",
            needs: [.canary, .token]
        ) { talk in
            guard let path = change(try talk.canaryRoute()) else { throw Unfit("does not fit the path") }
            try await talk.checkArrival()
            let marker = Marker()
            _ = try await talk.attempt(
                "attack",
                RawRequest(
                    text: "GET \(path)?\(marker.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n"
                        + "Connection: close\r\n\r\n"))
            return try await talk.arrivals(of: marker.value).isEmpty
                ? .passed("nothing arrived at the upstream") : .failed("it arrived at the upstream without a token")
        }
    }

    // MARK: P01 to P03: smuggling

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
    ]

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
            let stream = try await talk.open(
                "attack",
                RawRequest(
                    text:
                        "POST \(route)?\(first.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n\(fields)\(lines)\r\n"
                        + body + hidden))
            _ = await stream.receive(within: .milliseconds(300)) { _ in false }
            if try await !talk.arrivals(of: "?\(second.value) HTTP/1.").isEmpty {
                return .failed("the hidden request arrived at the upstream, without a token")
            }
            for bytes in try await talk.arrivals(of: first.value) {
                if let fault = Head(bytes).framingFault ?? Head.chunkFault(bytes) {
                    return .failed("\(fault) arrived at the upstream")
                }
            }
            return .passed("nothing of two readings arrived at the upstream")
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
struct Marker: Sendable {
    let value: String

    init() {
        value = "m" + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}

/// The head of a request as it arrived.
struct Head: Sequence {
    let fields: [(name: String, value: String)]

    init(_ bytes: [UInt8]) {
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound ?? bytes.endIndex
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").dropFirst()
        fields = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
    }

    /// A chunk size that is not a plain hexadecimal number, or nil.
    static func chunkFault(_ bytes: [UInt8]) -> String? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
            Head(bytes).contains(where: { $0.name == "transfer-encoding" })
        else { return nil }
        let size = bytes[end.upperBound...].prefix { $0 != 0x0D && $0 != 0x0A }
        return size.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } ? nil : "an odd chunk size"
    }

    func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }

    /// The verdict on a request that named the gateway's own headers in `Connection`.
    func judged(has names: [String]) -> Judgement {
        let missing = names.filter { name in !contains { $0.name == name } }
        return missing.isEmpty
            ? .passed("the gateway's own headers arrived")
            : .failed("\(missing.joined(separator: ", ")) did not arrive: the caller took it out")
    }

    /// The name as upstreams see it that turn header names into variables.
    static func alias(_ name: String) -> String {
        name.lowercased().replacing("_", with: "-").replacing(".", with: "-")
    }

    /// The framing fields that two parsers could read differently, or nil.
    var framingFault: String? {
        let lengths = fields.filter { $0.name == "content-length" }
        let codings = fields.filter { Self.alias($0.name.filter { $0 != " " }) == "transfer-encoding" }
        if !lengths.isEmpty, !codings.isEmpty { return "a length and a coding" }
        if lengths.count > 1 { return "two lengths" }
        if lengths.contains(where: { !$0.value.utf8.allSatisfy { (0x30...0x39).contains($0) } }) {
            return "an odd length"
        }
        return codings.contains { $0.value != "chunked" || $0.name != "transfer-encoding" } || codings.count > 1
            ? "an odd coding" : nil
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
