/// P: other spellings of the protected path, and requests whose end two parsers find at different places.
enum RequestProbes {
    static let all: [Probe] = opaque + paths + fields + methods + framing

    // MARK: J02: tokens that are not JWTs

    /// J02: a token that is not a JWT, changed so that it cannot be one that was issued (RFC 6749 section 10.10).
    private static let opaque: [Probe] = [
        opaque("first-letter", "the good token with its first letter changed") { token in
            Bytes.flipped(token, at: 0, mask: token.first == UInt8(ascii: "A") ? 3 : 1)
        },
        opaque("last-letters", "the good token without its last four letters") { $0.count > 8 ? $0.dropLast(4) : nil },
        opaque("doubled", "the good token twice") { $0 + $0 },
        opaque("reversed", "the good token backwards") { $0.reversed() == $0 ? nil : $0.reversed() },
        opaque("empty", "an empty token") { _ in [] },
        opaque("null", "the word null") { _ in Array("null".utf8) },
    ]

    /// A changed token in the configured carrier. Failed if it is accepted as the valid one is.
    ///
    /// - Parameter change: makes the changed token; nil if it would be the valid one.
    private static func opaque(
        _ name: String, _ title: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) -> Probe {
        Probe(
            "J02-opaque-\(name)", title, reference: "RFC 6749 §10.10", expected: "refused", needs: [.token]
        ) { talk in
            guard let token = talk.token, let changed = change(token),
                let request = talk.transport.request(.token(changed), to: talk.target)
            else { throw Unfit("does not fit the token or its carrier") }
            guard let answer = try await talk.attempt("attack", request) else {
                return .passed("the connection was ended")
            }
            return talk.transport.isAccepted(answer, by: talk.target)
                ? .failed("accepted with \(answer.status)") : .passed("refused with \(answer.status)")
        }
    }

    // MARK: P08: paths

    private static let pathReference = "CVE-2019-9901, GHSA-p224-6x5r-fjpm"

    /// P08: the protected path in a spelling that an access rule may not match and the upstream may resolve to it (RFC
    /// 3986 section 6.2.2).
    private static let paths: [Probe] = [
        path("double-slash", "two slashes at the beginning") { "/" + $0 },
        path("dot", "a dot segment") { "/." + $0 },
        path("dot-dot", "a detour through another path") { "/public/.." + $0 },
        path("dot-dot-encoded", "a detour with encoded dots") { "/public/%2e%2e" + $0 },
        path("slash-encoded", "a detour with an encoded slash") { "/public/..%2f" + $0.dropFirst() },
        path("backslash", "a detour with a backslash") { "/public\\.." + $0 },
        path("semicolon", "a detour with a path parameter") { "/public/..;" + $0 },
        path("letter-encoded", "a letter percent-encoded") { path in
            let letter = path.utf8.last.map { String($0, radix: 16) } ?? "61"
            return path.dropLast() + "%" + letter
        },
        path("twice-encoded", "a letter percent-encoded twice") { path in
            let letter = path.utf8.last.map { String($0, radix: 16) } ?? "61"
            return path.dropLast() + "%25" + letter
        },
        path("capitals", "capitals") { $0.uppercased() == $0 ? nil : $0.uppercased() },
        path("trailing-slash", "a slash at the end") { $0 + "/" },
        path("trailing-dot", "a dot at the end") { $0 + "." },
        path("parameter", "a path parameter at the end") { $0 + ";x=1" },
        path("suffix", "a file's suffix") { $0 + ".css" },
        path("nul", "an encoded NUL at the end") { $0 + "%00" },
        path("fragment", "a fragment before it") { "/public#/.." + $0 },
        path("query", "the path of something public in the query") { $0 + "?x=/public" },
        path("absolute", "the absolute form") { "http://public.invalid" + $0 },
        path("overlong", "a detour with dots in two bytes each") { "/public/%c0%ae%c0%ae" + $0 },
        path("backslash-encoded", "a detour with an encoded backslash") { "/public%5c.." + $0 },
        path("space", "an encoded space at the end") { $0 + "%20" },
        path("line-break", "an encoded line break at the end") { $0 + "%0d%0a" },
    ]

    private static func path(
        _ name: String, _ title: String, _ change: @escaping @Sendable (String) -> String?
    ) -> Probe {
        bare("P08-path-\(name)", "the protected path without a token, with \(title)", pathReference) { target in
            change(target.path).map { ("GET", $0, "") }
        }
    }

    // MARK: P05, P12: fields and methods that change the request

    /// P05, P12, P13: fields that replace the path, the method or the client's address of a request without a token.
    private static let fields: [Probe] =
        ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Original-URI", "X-Forwarded-Prefix"].map { name in
            bare(
                "P05-\(name.lowercased())", "another path with the protected one in \(name)",
                "Oathkeeper GHSA-p224-6x5r-fjpm"
            ) {
                ("GET", "/", "\(name): \($0.path)\r\n")
            }
        }
        + [
            bare("P05-method-override", "OPTIONS with GET in X-HTTP-Method-Override", "CWE-650") {
                ("OPTIONS", $0.path, "X-HTTP-Method-Override: GET\r\n")
            },
            bare("P05-forwarded-loopback", "a request that says it comes from this machine", "CWE-290") {
                ("GET", $0.path, "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n")
            },
            bare("P13-health-agent", "the agent of a health check", "GHSA-5hvv-m4w4-gf6v") {
                ("GET", $0.path, "User-Agent: GoogleHC/1.0\r\nX-Health-Check: 1\r\n")
            },
            bare("P12-method-lowercase", "the method in small letters", "RFC 9110 §9.1") { ("get", $0.path, "") },
            bare("P12-method-unknown", "a method that does not exist", "RFC 9110 §9.1") { ("GETS", $0.path, "") },
        ]

    /// P12: methods that a target must not carry out for a caller, with the good token: TRACE sends the credentials
    /// back (RFC 9110 section 9.3.8), CONNECT opens a tunnel (section 9.3.6).
    private static let methods: [Probe] = [
        answered("P12-trace", "TRACE, which sends the token back", "CWE-693, RFC 9110 §9.3.8") { target, fields in
            "TRACE \(target.path) HTTP/1.1\r\nHost: \(target.authority)\r\n\(fields)"
        },
        answered("P12-connect", "CONNECT, which would open a tunnel", "RFC 9110 §9.3.6") { target, fields in
            "CONNECT \(target.authority) HTTP/1.1\r\nHost: \(target.authority)\r\n\(fields)"
        },
    ]

    /// A request with the good token and a method that is not for it.
    ///
    /// - Parameter lines: makes the start line and the fields; its arguments are the target and the line with the
    ///   token.
    private static func answered(
        _ id: String, _ title: String, _ reference: String,
        _ lines: @escaping @Sendable (Target, String) -> String
    ) -> Probe {
        Probe(id, title, reference: reference, expected: "refused", needs: [.token]) { talk in
            guard talk.keepsBytes else { throw Unfit("takes a connection of its own over HTTP/1.1") }
            let text = lines(talk.target, try talk.credentialFields()) + "Connection: close\r\n\r\n"
            guard let answer = try await talk.attempt("attack", RawRequest(text: text)) else {
                return .passed("the connection was ended")
            }
            return answer.isSuccess
                ? .failed("answered \(answer.status)") : .passed("refused with \(answer.status)")
        }
    }

    /// A request without a token, which must not get the answer that the valid token gets.
    ///
    /// - Parameter request: makes the method, the path and further lines; nil if the change does not apply to the path.
    private static func bare(
        _ id: String, _ title: String, _ reference: String,
        _ request: @escaping @Sendable (Target) -> (method: String, path: String, fields: String)?
    ) -> Probe {
        Probe(id, title, reference: reference, expected: "not what the good token gets", needs: [.token]) { talk in
            guard let (method, path, fields) = request(talk.target) else { throw Unfit("does not fit the path") }
            let good = try await talk.exchange("control", try talk.good())
            let answer = try await talk.attempt(
                "attack",
                RawRequest(
                    text: "\(method) \(path) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n\(fields)"
                        + "Connection: close\r\n\r\n"))
            guard let answer else { return .passed("the connection was ended") }
            guard talk.target.isSuccess(answer.status) else { return .passed("refused with \(answer.status)") }
            // Another page than the protected one is no finding, and empty pages cannot be compared.
            return !good.content.isEmpty && answer.fingerprint == good.fingerprint
                ? .failed("the protected answer came without a token")
                : .passed("answered \(answer.status), with something else than the good token gets")
        }
    }

    // MARK: P01, P02, P04, P10: framing

    /// P01, P02, P04, P10: heads that RFC 9112 tells a server to refuse, each with the good token.
    ///
    /// They matter where the target passes requests on, because its upstream may read them in another way.
    private static let framing: [Probe] = [
        framed("P01-length-twice", "two different Content-Length", "Content-Length: 0\r\nContent-Length: 5\r\n"),
        framed("P01-length-list", "two different lengths in one field", "Content-Length: 0, 5\r\n"),
        framed("P01-length-plus", "a length with a plus", "Content-Length: +0\r\n"),
        framed("P01-length-negative", "a negative length", "Content-Length: -1\r\n"),
        framed("P01-length-hex", "a hexadecimal length", "Content-Length: 0x0\r\n"),
        framed("P01-length-word", "a length that is no number", "Content-Length: none\r\n"),
        framed("P02-coding-unknown", "a transfer coding that does not exist", "Transfer-Encoding: xchunked\r\n"),
        framed("P02-coding-not-last", "chunked before another coding", "Transfer-Encoding: chunked, gzip\r\n"),
        framed("P04-space-colon", "a space before a colon", "Content-Length : 0\r\n"),
        framed("P04-nul", "a NUL in a field", "X-Any: a\u{0}b\r\n"),
        framed("P04-name", "a field's name with a bracket", "X(Any): a\r\n"),
        framed("P04-no-colon", "a field without a colon", "X-Any\r\n"),
        framed("P10-host-twice", "two Host fields", "Host: other.invalid\r\n"),
        framed("P01-length-empty", "an empty length", "Content-Length: \r\n"),
        framed("P01-length-underscore", "a length with an underscore", "Content-Length: 0_0\r\n"),
        framed("P10-host-missing", "no Host", "", host: ""),
        framed("P10-host-list", "two hosts in one field", "", host: "Host: a.invalid, b.invalid\r\n"),
        framed("P10-host-userinfo", "a Host with user information", "", host: "Host: a@b.invalid\r\n"),
        framed("P10-host-port", "a Host whose port is no number", "", host: "Host: a.invalid:x\r\n"),
        framed("P10-host-path", "a Host with a path", "", host: "Host: a.invalid/b\r\n"),
    ]

    /// A good request with further lines or another Host, after the same request without them was accepted.
    ///
    /// - Parameters:
    ///   - lines: added behind the credentials, with their line ends.
    ///   - host: the line with the host; nil for the right one.
    private static func framed(_ id: String, _ title: String, _ lines: String, host: String? = nil) -> Probe {
        Probe(
            id, "a good request with \(title)", reference: "RFC 9112 §3.2, §5.1, §6.3", expected: "refused",
            needs: [.token]
        ) { talk in
            guard talk.keepsBytes else { throw Unfit("takes a connection of its own over HTTP/1.1") }
            // Without an upstream there is only one parser, so smuggling is not possible.
            guard talk.target.isStrict || talk.target.canaryPath != nil else {
                throw Unfit("matters in front of an upstream: judged with 'canary' in the profile, or --strict")
            }
            let fields = try talk.credentialFields()
            func start(_ host: String) -> String { "GET \(talk.target.path) HTTP/1.1\r\n\(host)\(fields)" }
            let own = "Host: \(talk.target.authority)\r\n"
            let control = try await talk.exchange(
                "control", RawRequest(text: start(own) + "Connection: close\r\n\r\n"))
            guard talk.target.isSuccess(control.status) else {
                throw Unjudged("the good request got \(control.status)")
            }
            guard
                let answer = try await talk.attempt(
                    "attack", RawRequest(text: start(host ?? own) + lines + "Connection: close\r\n\r\n"))
            else { return .passed("the connection was ended") }
            return talk.target.isSuccess(answer.status)
                ? .failed("accepted with \(answer.status)") : .passed("refused with \(answer.status)")
        }
    }
}
