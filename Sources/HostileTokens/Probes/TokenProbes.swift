/// J: what takes more than one request with a token: a flood of kids, revoked tokens, claims that are passed on.
enum TokenProbes {
    static let all: [Probe] = [flood] + revoked + subjects + otherClaims + [html]

    // MARK: J08

    /// J08: a target that asks the issuer for its keys again for each unknown `kid`, or remembers each, has two hundred
    /// reasons to be slow or out of memory. The good token has to be accepted afterwards.
    private static let flood = Probe(
        "J08-kid-flood", "two hundred tokens, each with a different unknown kid",
        reference: "RFC 8725 §3.10, RFC 7517 §5", expected: "each refused, and the good token accepted afterwards",
        needs: [.token, .jwt]
    ) { talk in
        guard let material = talk.material else { throw Unfit(Need.jwt.absence) }
        for number in 0..<200 {
            let header = Bytes.base64URL(material.headerText([("kid", RawJSON.quoted("unknown-\(number)"))]))
            let token = AttackMaterial.joined(header, material.segments.payload, material.segments.signature)
            guard let request = talk.transport.request(.token(token), to: talk.target) else {
                throw Unfit("no request can be made")
            }
            guard let answer = try await talk.attempt("attack", request) else { continue }
            if talk.transport.isAccepted(answer, by: talk.target) {
                return .failed("a token with an unknown kid was accepted with \(answer.status)")
            }
        }
        let answer = try await talk.exchange("control", try talk.good())
        return talk.transport.isAccepted(answer, by: talk.target)
            ? .passed("the good token is accepted after the flood")
            : .failed("the good token got \(answer.status) after the flood")
    }

    // MARK: J27

    /// The same token in other bytes, after its end. A list of revoked tokens by their bytes does not hold it.
    private static let revoked: [Probe] = [
        respelled("twin", "with the other signature that fits (n - s)") { material in
            ECDSAAttacks.Halves(material).map { material.token(signature: $0.r + BigNumber.difference($0.order, $0.s)) }
        },
        respelled("padded", "with padding behind its signature") { material in
            let text = material.segments.signature
            guard text.count % 4 != 0 else { return nil }
            let padding = [UInt8](repeating: UInt8(ascii: "="), count: 4 - text.count % 4)
            return material.token(signatureText: text + padding)
        },
        respelled("unused-bits", "with the bits set that the last letter of its signature does not use") { material in
            Base64URLAttacks.withUnusedBits(material.segments.signature).map { material.token(signatureText: $0) }
        },
    ]

    /// A token in other bytes, after a logout has ended it. Skipped if the change does not apply to the target's
    /// tokens.
    ///
    /// The other bytes fit a verifier that accepts a second encoding or signature, so a list of revoked tokens by their
    /// bytes would miss them.
    ///
    /// - Parameter change: makes the other bytes; nil if the token's algorithm or length does not allow them.
    private static func respelled(
        _ name: String, _ title: String, _ change: @escaping @Sendable (AttackMaterial) -> [UInt8]?
    ) -> Probe {
        Probe(
            "J27-\(name)-after-logout", "a token after the logout, \(title)",
            reference: "FIPS 186-5 §6.4, RFC 4648 §3.5, ASVS 7.4.1", expected: "refused",
            needs: [.sessions, .revoke, .login]
        ) { talk in
            let member = try await talk.login()
            guard let material = try? AttackMaterial(goodToken: member.accessToken.utf8, now: 0),
                let other = change(material)
            else { throw Unfit("does not fit the token") }
            try talk.require(try await talk.protected(member.accessToken), "the token before the logout")
            try await talk.logout(member)
            return try await talk.protected(String(decoding: other, as: UTF8.self)).refused("the token in other bytes")
        }
    }

    // MARK: J29

    /// J29: `sub` is what gateways write into a field for the upstream. The low bytes of some letters are a line break
    /// for code that cuts characters to bytes (CVE-2018-12116).
    private static let subjects: [Probe] = [
        claim("sub-line", "a line break and a field in sub") { _ in "usr_x\r\nX-Injected: 1" },
        claim("sub-line-feed", "a line feed and a field in sub") { _ in "usr_x\nX-Injected: 1" },
        claim("sub-carriage-return", "a carriage return and a field in sub") { _ in "usr_x\rX-Injected: 1" },
        claim("sub-nul", "a NUL in sub") { _ in "usr_x\u{0}admin" },
        claim("sub-low-bytes", "letters in sub whose low bytes are a line break") { _ in
            "usr_x\u{10D}\u{10A}X-Injected: 1"
        },
        claim("sub-request", "a whole request in sub") { place in
            "usr_x\r\n\r\nGET \(place) HTTP/1.1\r\nHost: upstream\r\n\r\n"
        },
    ]

    /// J29: the same in the other claims that upstreams are told.
    private static let otherClaims: [Probe] = ["client_id", "tenant_id", "scope", "email", "name"].map { name in
        claim("\(name.replacing("_", with: "-"))-line", "a line break and a field in \(name)", name) { _ in
            "x\r\nX-Injected: 1"
        }
    }

    /// A claim that would become a field, or a request, of its own if it were written into a header as it is.
    ///
    /// - Parameter value: makes the claim's value. Its parameter is the path and query of a request to the upstream.
    private static func claim(
        _ id: String, _ title: String, _ name: String = "sub", _ value: @escaping @Sendable (String) -> String
    ) -> Probe {
        Probe(
            "J29-\(id)", title, reference: "CWE-113, CVE-2018-12116",
            expected: "refused, or no part of it becomes a field or a request", needs: [.token, .jwt, .key, .canary]
        ) { talk in
            guard let material = talk.material else { throw Unfit(Need.jwt.absence) }
            guard try await talk.arrival(Marker(), token: try material.signedControl()) != nil else {
                throw Unjudged("the good request did not arrive")
            }
            let (first, second) = (Marker(), Marker())
            let text = value("\(try talk.canaryRoute())?\(second.value)")
            let token = try material.signed(claimChanges: [(name, RawJSON.quoted(text))])
            let head = try await talk.arrival(first, token: token)
            if try await !talk.arrivals(of: second.value).isEmpty {
                return .failed("a request that the claim held arrived at the upstream")
            }
            guard let head else { return .passed("nothing arrived at the upstream") }
            for (field, value) in head {
                if field == "x-injected" { return .failed("a field that the claim held arrived at the upstream") }
                if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
                    return .failed("a control byte arrived at the upstream, in \(field)")
                }
            }
            return .passed("no part of the claim became a field or a request")
        }
    }

    /// J29: a page of the target, an error page for example, must not contain the claim as markup.
    private static let html = Probe(
        "J29-sub-html", "a script in sub", reference: "CWE-79", expected: "refused, or not in a page as it is",
        needs: [.token, .jwt, .key]
    ) { talk in
        guard let material = talk.material else { throw Unfit(Need.jwt.absence) }
        let script = "\"><script>alert(1)</script>"
        let token = try material.signed(claimChanges: [("sub", RawJSON.quoted(script))])
        guard let request = talk.transport.request(.token(token), to: talk.target) else {
            throw Unfit("no request can be made")
        }
        guard let answer = try await talk.attempt("attack", request) else { return .passed("the connection was ended") }
        let isPage = answer.fields("content-type").contains { $0.lowercased().contains("html") }
        return isPage && String(decoding: answer.content, as: UTF8.self).contains("<script>alert(1)")
            ? .failed("the page holds the script") : .passed("answered \(answer.status), without the script in a page")
    }
}
