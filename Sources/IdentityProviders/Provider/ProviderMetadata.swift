import Encodings
import JOSE

/// What a provider's discovery document says (OpenID Connect Discovery 1.0 §3, RFC 8414 §2), judged.
package struct ProviderMetadata: Sendable {
    /// `issuer`, the same bytes as in the configuration.
    package let issuer: String
    /// Where the browser is sent.
    package let authorizationEndpoint: EndpointURL
    /// Where a code is exchanged.
    package let tokenEndpoint: EndpointURL
    /// `jwks_uri`.
    package let keySetURL: EndpointURL
    /// Where the person is described; nil where the document names none.
    package let userInfoEndpoint: EndpointURL?
    /// Where the browser is sent to log out there as well (RP-Initiated Logout 1.0 §2.1).
    package let endSessionEndpoint: EndpointURL?
    /// The algorithms of ID tokens: those that the provider announces and that are accepted here.
    package let algorithms: [SignatureAlgorithm]
    /// Whether every authorization response has an `iss` (RFC 9207 §3).
    package let announcesResponseIssuer: Bool

    /// The algorithms of ID tokens that are accepted at all: asymmetric, and with a digest that `at_hash` is defined
    /// for.
    package static let acceptedAlgorithms: [SignatureAlgorithm] = [
        .rs256, .es256, .ps256, .rs384, .rs512, .ps384, .ps512, .es384, .es512, .ed25519, .eddsa,
    ]

    private static let limits = JSONLimits(
        maxBytes: ProviderRequest.maximumAnswerBytes, maxDepth: 16, maxMembers: 1000, maxValues: 10_000)

    /// Where the document of an issuer is (OpenID Connect Discovery 1.0 §4.1); nil if the issuer is no URL.
    package static func url(ofIssuer issuer: String) -> EndpointURL? {
        guard let url = EndpointURL(issuer), !url.hasQuery else { return nil }
        let base = issuer.utf8.last == UInt8(ascii: "/") ? String(issuer.dropLast()) : issuer
        return EndpointURL(base + "/.well-known/openid-configuration")
    }

    /// Judges the document of an issuer.
    ///
    /// - Parameters:
    ///   - answer: what was answered at ``url(ofIssuer:)``.
    ///   - issuer: the issuer of the configuration, which the document must repeat byte for byte.
    package init(_ answer: ProviderAnswer, issuer: String) throws(ProviderFault) {
        let document = try Self.document(answer, issuer: issuer)
        guard let base = EndpointURL(issuer) else { throw ProviderFault(.issuerMismatch, "the issuer is not a URL") }
        self.issuer = issuer
        authorizationEndpoint = try Self.endpoint("authorization_endpoint", of: document, base)
        tokenEndpoint = try Self.endpoint("token_endpoint", of: document, base)
        keySetURL = try Self.endpoint("jwks_uri", of: document, base)
        userInfoEndpoint = try Self.optionalEndpoint("userinfo_endpoint", of: document, base)
        endSessionEndpoint = try Self.optionalEndpoint("end_session_endpoint", of: document, base)
        algorithms = try Self.algorithms(document)
        announcesResponseIssuer = try Self.flag("authorization_response_iss_parameter_supported", of: document)
        if let types = try Self.texts("response_types_supported", of: document) {
            guard types.contains(where: { $0.hasSameBytes(as: "code") }) else {
                throw ProviderFault(.codeFlowUnsupported, "the provider does not announce response_type=code")
            }
        }
        // A silent document is no refusal: many providers do PKCE without announcing it.
        if let methods = try Self.texts("code_challenge_methods_supported", of: document) {
            guard methods.contains(where: { $0.hasSameBytes(as: "S256") }) else {
                throw ProviderFault(.pkceUnsupported, "the provider announces PKCE without S256")
            }
        }
    }

    /// Where the key set is, of a document that is asked for nothing else (`issuers[].discovery`).
    package static func keySetURL(_ answer: ProviderAnswer, issuer: String) throws(ProviderFault) -> EndpointURL {
        let document = try document(answer, issuer: issuer)
        guard let base = EndpointURL(issuer) else { throw ProviderFault(.issuerMismatch, "the issuer is not a URL") }
        return try endpoint("jwks_uri", of: document, base)
    }

    // MARK: Steps

    private static func document(_ answer: ProviderAnswer, issuer: String) throws(ProviderFault) -> JSONObject {
        let document = try answer.object(limits: limits)
        guard let said = document["issuer"]?.stringValue, said.hasSameBytes(as: issuer) else {
            throw ProviderFault(.issuerMismatch, "the document is not of the issuer that was asked for")
        }
        return document
    }

    /// A provider on `https` has all its endpoints there; one on loopback may have them on loopback.
    private static func endpoint(
        _ name: String, of document: JSONObject, _ issuer: EndpointURL
    ) throws(ProviderFault) -> EndpointURL {
        guard let endpoint = try optionalEndpoint(name, of: document, issuer) else {
            throw ProviderFault(.endpointMissing, "the document has no \(name)")
        }
        return endpoint
    }

    private static func optionalEndpoint(
        _ name: String, of document: JSONObject, _ issuer: EndpointURL
    ) throws(ProviderFault) -> EndpointURL? {
        guard let value = document[name], !value.isNull else { return nil }
        guard let url = value.stringValue.flatMap(EndpointURL.init) else {
            throw ProviderFault(.endpointRefused, "\(name) is not a URL")
        }
        guard issuer.isHTTPS ? url.isHTTPS : url.isSecure else {
            throw ProviderFault(.endpointRefused, "\(name) is not https")
        }
        return url
    }

    private static func algorithms(_ document: JSONObject) throws(ProviderFault) -> [SignatureAlgorithm] {
        // RS256 is what every provider must have (OpenID Connect Discovery 1.0 §3).
        let announced = try texts("id_token_signing_alg_values_supported", of: document) ?? ["RS256"]
        let names = announced.compactMap(SignatureAlgorithm.init(name:))
        let common = acceptedAlgorithms.filter(names.contains)
        guard !common.isEmpty else {
            throw ProviderFault(.algorithmsRefused, "no algorithm of the provider's ID tokens is accepted here")
        }
        return common
    }

    private static func flag(_ name: String, of document: JSONObject) throws(ProviderFault) -> Bool {
        guard let value = document[name] else { return false }
        guard let flag = value.boolValue else { throw ProviderFault(.malformed, "\(name) is not true or false") }
        return flag
    }

    private static func texts(_ name: String, of document: JSONObject) throws(ProviderFault) -> [String]? {
        guard let value = document[name] else { return nil }
        guard let values = value.arrayValue, case let texts = values.compactMap(\.stringValue),
            texts.count == values.count
        else { throw ProviderFault(.malformed, "\(name) is not a list of strings") }
        return texts
    }
}

extension ProviderAnswer {
    /// The JSON object of a good answer: 200, `application/json`, and strict.
    func object(limits: JSONLimits) throws(ProviderFault) -> JSONObject {
        guard case .object(let object) = try value(limits: limits) else {
            throw ProviderFault(.malformed, "the answer is not a JSON object")
        }
        return object
    }

    /// The JSON value of a good answer.
    func value(limits: JSONLimits) throws(ProviderFault) -> JSONValue {
        guard status == 200 else { throw ProviderFault(.statusUnexpected, "answered with status \(status)") }
        guard body.count <= ProviderRequest.maximumAnswerBytes else {
            throw ProviderFault(.tooLarge, "the answer is longer than \(ProviderRequest.maximumAnswerBytes) bytes")
        }
        guard isJSON else { throw ProviderFault(.contentTypeUnexpected, "the answer is not application/json") }
        do throws(JSONError) {
            return try StrictJSON.parse(body, limits: limits)
        } catch {
            throw ProviderFault(.malformed, "the answer is not strict JSON: \(error)")
        }
    }
}
