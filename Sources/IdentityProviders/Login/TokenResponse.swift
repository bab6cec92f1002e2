import Encodings

/// What the token endpoint answered (RFC 6749 §5, OpenID Connect Core 1.0 §3.1.3.3), judged.
struct TokenResponse: Sendable {
    /// For the userinfo endpoint alone; never kept.
    let accessToken: String
    /// The ID token, unverified; nil for OAuth 2.0 alone.
    let idToken: String?

    private static let limits = JSONLimits(
        maxBytes: ProviderRequest.maximumAnswerBytes, maxDepth: 8, maxMembers: 100, maxValues: 1000,
        maxStringBytes: ProviderRequest.maximumAnswerBytes)

    /// Judges an answer.
    ///
    /// - Parameter needsIDToken: so for OpenID Connect.
    init(_ answer: ProviderAnswer, needsIDToken: Bool) throws(ProviderFault) {
        if (400..<500).contains(answer.status) { throw Self.refusal(of: answer) }
        let object = try answer.object(limits: Self.limits)
        // GitHub refuses with status 200.
        if object["error"] != nil { throw Self.fault(ofError: object["error"]?.stringValue) }
        guard let type = object["token_type"]?.stringValue, Self.isBearer(type) else {
            throw ProviderFault(.tokenTypeUnsupported, "token_type is not Bearer")
        }
        guard let accessToken = object["access_token"]?.stringValue, (1...16_384).contains(accessToken.utf8.count),
            accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw ProviderFault(.accessTokenMissing, "there is no access_token that could be used") }
        self.accessToken = accessToken
        switch object["id_token"] {
        case .string(let text)? where needsIDToken && !text.utf8.isEmpty: idToken = text
        case _ where needsIDToken: throw ProviderFault(.idTokenMissing, "there is no id_token")
        default: idToken = nil
        }
    }

    private static func refusal(of answer: ProviderAnswer) -> ProviderFault {
        guard answer.isJSON, let object = try? StrictJSON.object(answer.body, limits: limits) else {
            return ProviderFault(.statusUnexpected, "the token endpoint answered with status \(answer.status)")
        }
        return fault(ofError: object["error"]?.stringValue)
    }

    private static func fault(ofError error: String?) -> ProviderFault {
        switch error {
        case "invalid_client"?, "unauthorized_client"?, "incorrect_client_credentials"?:
            ProviderFault(.clientRefused, "the provider does not accept the client's credentials")
        default: ProviderFault(.codeRefused, "the provider does not accept the code")
        }
    }

    private static func isBearer(_ type: String) -> Bool {
        type.utf8.elementsEqual("bearer".utf8) { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
    }
}
