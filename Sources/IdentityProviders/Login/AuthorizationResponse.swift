import Encodings

/// The query of a callback (RFC 6749 §4.1.2), read and not yet believed.
package struct AuthorizationResponse: Sendable {
    /// The longest code, in bytes.
    package static let maximumCodeBytes = 4096

    /// The `state`, if there is exactly one of the shape that is made here.
    let state: Result<String, StateFault>
    private let parameters: [FormParameter]

    /// Reads the query, without its `?`.
    package init(query: String) {
        guard query.utf8.count <= 16_384, let parameters = FormText.decode(query) else {
            state = .failure(.malformed)
            parameters = []
            return
        }
        self.parameters = parameters
        let states = parameters.filter { $0.name.hasSameBytes(as: "state") }
        switch states.count {
        case 0: state = .failure(.missing)
        case 1 where states[0].value.utf8.isEmpty: state = .failure(.missing)
        // Of 32 bytes, and nothing else is ever hashed.
        case 1:
            state = Base64URL.decode(states[0].value)?.count == 32 ? .success(states[0].value) : .failure(.malformed)
        default: state = .failure(.repeated)
        }
    }

    /// What the response says, once its `state` is good.
    enum Verdict: Sendable, Equatable {
        case code(String)
        /// The person or the provider's rules refused.
        case refused(String)
        case unacceptable(ProviderFault)
    }

    /// Judges everything but the `state`: whose response it is first (RFC 9207 §2.4), then what it says.
    ///
    /// - Parameters:
    ///   - issuer: the issuer that the request went to.
    ///   - announcesIssuer: whether the provider says that it always sends `iss`.
    func verdict(issuer: String, announcesIssuer: Bool) -> Verdict {
        for name in ["code", "iss", "error"] where values(of: name).count > 1 {
            return .unacceptable(ProviderFault(.responseRepeated, "the response has \(name) twice"))
        }
        switch values(of: "iss").first {
        case let said? where !said.hasSameBytes(as: issuer):
            return .unacceptable(ProviderFault(.responseIssuerMismatch, "the response is of another issuer"))
        case nil where announcesIssuer:
            return .unacceptable(ProviderFault(.responseIssuerMissing, "the response has no iss, which was announced"))
        default: break
        }
        if let error = values(of: "error").first { return Self.verdict(ofError: error) }
        guard let code = values(of: "code").first, (1...Self.maximumCodeBytes).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return .unacceptable(ProviderFault(.responseIncomplete, "the response has neither code nor error")) }
        return .code(code)
    }

    private func values(of name: String) -> [String] {
        parameters.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
    }

    /// The codes by which the person or the provider's rules say no (RFC 6749 §4.1.2.1, OpenID Connect Core 1.0
    /// §3.1.2.6); every other one is a fault of the two servers.
    private static func verdict(ofError error: String) -> Verdict {
        let refusals = [
            "access_denied", "login_required", "interaction_required", "consent_required", "account_selection_required",
            "unmet_authentication_requirements",
        ]
        if let known = refusals.first(where: { $0.hasSameBytes(as: error) }) { return .refused(known) }
        // What the provider wrote itself reaches neither log nor page.
        return .unacceptable(ProviderFault(.authorizationFailed, "the provider answered with an error"))
    }
}
