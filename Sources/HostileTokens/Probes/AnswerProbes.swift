/// Texts that probes recognise.
public enum AnswerText {
    /// What the suite's own upstream puts into answers that no request asked for.
    public static let poison = "an answer to no request"
}

/// P17: what a faulty upstream answers must not reach other clients, and must not be read in two ways.
enum AnswerProbes {
    /// The suite's own upstream misbehaves as the query asks it to. The target may refuse, end the connection, or pass
    /// on one answer with one end; where an answer without a request comes back, another client could have got it.
    static let all: [Probe] = [
        poisons("twice", "an upstream that answers one request twice", "twice"),
        poisons("body-of-304", "an upstream whose 304 has a body", "body-of-304"),
        poisons("body-of-204", "an upstream whose 204 has a body", "body-of-204"),
        poisons("body-of-head", "an upstream that answers HEAD with a body", "body-of-head", method: "HEAD"),
        framed("length-and-coding", "an upstream's answer with a length and chunks", "length-and-coding"),
        framed("two-lengths", "an upstream's answer with two lengths", "two-lengths"),
        framed("coding-unknown", "an upstream's answer with an unknown coding", "coding-unknown"),
        malformed("carriage-return", "a carriage return alone in a field of an upstream's answer"),
        malformed("nul", "a NUL in a field of an upstream's answer"),
        malformed("folded", "a field on two lines in an upstream's answer"),
        probe("P17-answer-short", "an upstream's answer that ends before its length", "RFC 9112 §8") { talk in
            guard let answer = try await talk.answer("short") else { return .passed("the connection was ended") }
            // Without a length or chunks an answer ends with its connection, and looks whole to the client.
            let isWhole =
                answer.isComplete
                || (answer.field("content-length") == nil && answer.field("transfer-encoding") == nil)
            return talk.target.isSuccess(answer.status) && isWhole
                ? .failed("it was passed on as if it were whole") : .passed("the client can see that it is not whole")
        },
        probe("P17-answer-gateway-cookie", "an upstream that sets the target's own cookie", "CWE-565", [.sessions]) {
            talk in
            guard let answer = try await talk.answer("cookie") else { return .passed("the connection was ended") }
            return answer.fields("set-cookie").contains { $0.lowercased().contains("gatehouse=") }
                ? .failed("the upstream's cookie arrived at the client") : .passed("it did not arrive at the client")
        },
    ]

    /// What the upstream sends behind one answer must not become the answer to another client's request.
    ///
    /// Four requests follow the attack. One answer with ``AnswerText/poison`` in it fails the case.
    ///
    /// - Parameter kind: what the suite's own upstream is asked to send.
    private static func poisons(_ name: String, _ title: String, _ kind: String, method: String = "GET") -> Probe {
        probe("P17-answer-\(name)", title, "RFC 9112 §6.3, §9.2, CWE-444") { talk in
            _ = try await talk.answer(kind, method: method)
            for _ in 0..<4 {
                guard let answer = try await talk.answer(nil) else { continue }
                if String(decoding: answer.bytes, as: UTF8.self).contains(AnswerText.poison) {
                    return .failed("another request was answered with it")
                }
            }
            return .passed("no other request was answered with it")
        }
    }

    /// P11: a byte in an upstream's field that ends a line for some parsers. The target must refuse the answer or pass
    /// on a head of one reading (RFC 9112 section 5.2).
    private static func malformed(_ name: String, _ title: String) -> Probe {
        probe("P11-answer-\(name)", title, "RFC 9110 §5.5, RFC 9112 §5.2") { talk in
            guard let answer = try await talk.answer(name) else { return .passed("the connection was ended") }
            return LineProbes.fault(of: answer.bytes).map { .failed("\($0) arrived at the client") }
                ?? .passed("answered \(answer.status), with lines of one reading")
        }
    }

    /// P17: an upstream's answer with two framings. A proxy must pass on one of them, or an error (RFC 9112 section
    /// 6.3).
    private static func framed(_ name: String, _ title: String, _ kind: String) -> Probe {
        probe("P17-answer-\(name)", title, "RFC 9112 §6.1, §6.3") { talk in
            guard let answer = try await talk.answer(kind) else { return .passed("the connection was ended") }
            let lengths = answer.fields("content-length")
            let codings = answer.fields("transfer-encoding")
            let isAmbiguous =
                lengths.count > 1 || lengths.contains { $0.contains(",") } || (!lengths.isEmpty && !codings.isEmpty)
                || codings.contains { $0.lowercased() != "chunked" }
            return isAmbiguous
                ? .failed("it arrived at the client as it was")
                : .passed("answered \(answer.status), framed in one way")
        }
    }

    /// - Parameter converse: what is asked, and how the answer is judged.
    private static func probe(
        _ id: String, _ title: String, _ reference: String, _ needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: reference, expected: "one answer, framed in one way",
            needs: [.canary, .token] + needs
        ) { talk in
            guard talk.keepsBytes else { throw Unfit("takes a connection of its own over HTTP/1.1") }
            try await talk.checkArrival()
            return try await converse(talk)
        }
    }
}

extension Conversation {
    /// A good request that the suite's own upstream answers in this way; nil if the connection was ended.
    fileprivate func answer(_ kind: String?, method: String = "GET") async throws -> RawResponse? {
        let query = (kind.map { "answer=\($0)&" } ?? "") + Marker().value
        return try await attempt(
            kind == nil ? "control" : "attack",
            try canaryRequest("?\(query)", method: method, fields: try credentialFields()))
    }
}
