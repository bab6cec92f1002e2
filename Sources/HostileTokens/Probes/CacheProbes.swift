/// P20: answers that a cache could give to others.
enum CacheProbes {
    /// A shared cache may keep an answer to a request with `Authorization` only where the answer allows it (RFC 9111
    /// section 3.5); for a token anywhere else the answer has to forbid it. Without `--strict` it is
    /// enough that the answer does not ask to be kept.
    static let all: [Probe] = [
        Probe(
            "P20-cache-good", "the protected answer, as a shared cache sees it", reference: "RFC 9111 §3, §3.5",
            expected: "nothing lets a shared cache keep it", needs: [.token]
        ) { talk in
            guard !talk.transport.isSocket, talk.transport != .introspection else {
                throw Unfit("is about answers to plain requests")
            }
            let answer = try await talk.exchange("attack", try talk.good())
            guard talk.target.isSuccess(answer.status) else { throw Unjudged("the good token got \(answer.status)") }
            return CacheTerms(answer).judged(
                isInAuthorization: talk.transport == .authorization && talk.target.carrierName == nil,
                isStrict: talk.target.isStrict)
        },
        Probe(
            "P20-cache-refusal", "the refusal, as a shared cache sees it", reference: "RFC 9111 §3",
            expected: "nothing lets a shared cache keep it", needs: [.token]
        ) { talk in
            let answer = try await talk.exchange("attack", talk.transport.bareRequest(to: talk.target))
            return CacheTerms(answer).judged(isInAuthorization: false, isStrict: talk.target.isStrict)
        },
        Probe(
            "P20-cache-login", "the answer to a login, which holds tokens", reference: "RFC 6749 §5.1",
            expected: "Cache-Control: no-store", needs: [.login]
        ) { talk in
            let answer = try await talk.loginAnswer(0)
            guard Member(answer) != nil else { throw Unfit("the login's answer holds no access token") }
            return CacheTerms(answer).has("no-store")
                ? .passed("it says no-store") : .failed("it does not say no-store")
        },
        .upstream(
            "P20-cache-deception", "a good token's answer for a path that looks like a file", "CWE-524, CWE-525",
            expected: "not given to the next caller"
        ) { talk, _ in
            let rest = "/\(Marker().value).css?answer=kept"
            let first = try await talk.attempt(
                "control", try talk.canaryRequest(rest, fields: try talk.credentialFields()))
            guard let first, talk.target.isSuccess(first.status) else {
                throw Unfit("the canary's route has no paths below it")
            }
            guard let next = try await talk.attempt("attack", try talk.canaryRequest(rest, fields: "")) else {
                return .passed("the connection was ended")
            }
            return talk.target.isSuccess(next.status) && next.fingerprint == first.fingerprint
                ? .failed("it was given to a request without a token") : .passed("refused with \(next.status)")
        },
    ]
}

/// What an answer says to caches.
private struct CacheTerms {
    private let directives: [String]
    private let variesBy: Set<String>
    private let hasExpiry: Bool

    /// Reads `Cache-Control`, `Vary` and `Expires`. Directives are compared in lower case and without spaces.
    init(_ answer: RawResponse) {
        func elements(_ name: String) -> [String] {
            answer.fields(name).flatMap { $0.lowercased().split(separator: ",") }.map {
                String($0).filter { $0 != " " }
            }
        }
        directives = elements("cache-control")
        variesBy = Set(elements("vary"))
        hasExpiry = answer.field("expires") != nil
    }

    /// Whether `Cache-Control` has this directive, with a value or without.
    func has(_ directive: String) -> Bool {
        directives.contains { $0 == directive || $0.hasPrefix(directive + "=") }
    }

    /// - Parameter isInAuthorization: whether the request had `Authorization`, to which shared caches keep no answer
    ///   unless it allows that (RFC 9111 section 3.5).
    /// - Parameter isStrict: whether the answer must say no-store or private; without it, it is enough that nothing
    ///   asks for it to be kept.
    func judged(isInAuthorization: Bool, isStrict: Bool) -> Judgement {
        if has("no-store") || has("private") { return .passed("it is not for shared caches") }
        if !isStrict, has("no-cache") || directives.contains("s-maxage=0") {
            return .passed("it is not given again without asking")
        }
        if !variesBy.isDisjoint(with: ["*", "authorization", "cookie"]) { return .passed("it varies by credentials") }
        let isOffered = has("public") || has("s-maxage")
        if isInAuthorization ? isOffered || has("must-revalidate") : isOffered || has("max-age") || hasExpiry {
            return .failed("a shared cache may keep it")
        }
        return isStrict ? .failed("it says neither no-store nor private") : .passed("it does not ask to be kept")
    }
}
