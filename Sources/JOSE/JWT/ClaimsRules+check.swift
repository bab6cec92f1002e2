import Encodings

extension ClaimsRules {
    /// The refusal of the first rule that is broken, in a fixed order; nil if none is.
    ///
    /// `exp` is checked last: a client that is told `expired` may refresh the token, so everything else must be in
    /// order.
    func refusal(of header: ProtectedHeader, _ claims: Claims, now: Double) -> TokenRefusal? {
        guard now.isFinite else { return TokenRefusal(.claimInvalid, "the clock does not tell the time") }
        return typeRefusal(header)
            ?? issuerRefusal(claims)
            ?? audienceRefusal(claims)
            ?? subjectRefusal(claims)
            ?? requiredRefusal(claims)
            ?? timeRefusal(claims, now)
            ?? additionalRefusal(header, claims, now)
            ?? expiryRefusal(claims, now)
    }

    private func typeRefusal(_ header: ProtectedHeader) -> TokenRefusal? {
        if header.isNested { return TokenRefusal(.typeMismatch, "a token within a token") }
        guard !types.isEmpty else { return nil }
        guard let type = header.type else { return TokenRefusal(.typeMismatch, "typ is missing") }
        // By index, here and below, because iterating would retain and release every string it passes.
        for index in types.indices where types[index].hasSameBytes(as: type) { return nil }
        let given = MediaType(type)
        return types.contains { given.isSame(as: $0) } ? nil : TokenRefusal(.typeMismatch, "typ is not the wanted one")
    }

    private func issuerRefusal(_ claims: Claims) -> TokenRefusal? {
        guard let issuer else { return nil }
        guard let isWanted = claims.isIssuer(issuer) else { return TokenRefusal(.claimMissing, "iss is missing") }
        return isWanted ? nil : TokenRefusal(.issuerMismatch, "iss is not the wanted one")
    }

    private func audienceRefusal(_ claims: Claims) -> TokenRefusal? {
        guard !audience.isEmpty else { return nil }
        guard claims.hasAudience else { return TokenRefusal(.claimMissing, "aud is missing") }
        for index in audience.indices where claims.isFor(audience[index]) { return nil }
        return TokenRefusal(.audienceMismatch, "aud does not name us")
    }

    private func subjectRefusal(_ claims: Claims) -> TokenRefusal? {
        guard let subject else { return nil }
        guard let isWanted = claims.isSubject(subject) else { return TokenRefusal(.claimMissing, "sub is missing") }
        return isWanted ? nil : TokenRefusal(.subjectMismatch, "sub is not the wanted one")
    }

    private func requiredRefusal(_ claims: Claims) -> TokenRefusal? {
        for index in required.indices {
            switch claims.presence(of: required[index]) {
            case .there: continue
            case .missing: return TokenRefusal(.claimMissing, "\(required[index].name) is missing")
            case .empty: return TokenRefusal(.claimInvalid, "\(required[index].name) is empty")
            }
        }
        // RFC 9068 section 2.2 makes it a string, and it is passed on to upstreams.
        return claims.hasOddClientID ? TokenRefusal(.claimInvalid, "client_id is not a string") : nil
    }

    /// The refusal for dates other than an `exp` that has passed.
    private func timeRefusal(_ claims: Claims, _ now: Double) -> TokenRefusal? {
        if let notBefore = claims.notBefore, notBefore > now + leeway {
            return TokenRefusal(.notYetValid, "nbf is still to come")
        }
        if let issuedAt = claims.issuedAt, issuedAt > now + leeway {
            return TokenRefusal(.issuedInFuture, "iat is still to come")
        }
        guard let expiresAt = claims.expiresAt else { return nil }
        if let notBefore = claims.notBefore, notBefore > expiresAt {
            return TokenRefusal(.claimInvalid, "nbf is after exp")
        }
        if let issuedAt = claims.issuedAt, issuedAt > expiresAt {
            return TokenRefusal(.claimInvalid, "iat is after exp")
        }
        if let maximumLifetime, expiresAt - (claims.issuedAt ?? now) > maximumLifetime {
            return TokenRefusal(.lifetimeExceeded, "exp is too long after iat")
        }
        return nil
    }

    private func additionalRefusal(_ header: ProtectedHeader, _ claims: Claims, _ now: Double) -> TokenRefusal? {
        for rule in additional {
            if let refusal = rule.refusal(header, claims, now) { return refusal }
        }
        return nil
    }

    private func expiryRefusal(_ claims: Claims, _ now: Double) -> TokenRefusal? {
        guard !acceptsExpired, let expiresAt = claims.expiresAt, expiresAt <= now - leeway else { return nil }
        return TokenRefusal(.expired, "exp has passed")
    }
}
