import Encodings
import JOSE
import Libcrypto

/// The request that exchanges a code for tokens (RFC 6749 §4.1.3), for each way to authenticate the client.
package enum TokenRequest {
    /// Makes the request.
    ///
    /// - Parameters:
    ///   - provider: whose client authentication is used.
    ///   - endpoint: the token endpoint.
    ///   - code: of the authorization response.
    ///   - codeVerifier: of the pending login.
    ///   - redirectURI: the same as in the authorization request.
    ///   - clientKey: the gateway's active key, for `private_key_jwt` alone.
    ///   - now: milliseconds since 1970.
    package static func make(
        to provider: ProviderConfiguration, at endpoint: EndpointURL, code: String, codeVerifier: String,
        redirectURI: String, clientKey: SigningKey?, now: Int64
    ) throws(ProviderFault) -> ProviderRequest {
        var parameters = [
            FormParameter("grant_type", "authorization_code"), FormParameter("code", code),
            FormParameter("redirect_uri", redirectURI), FormParameter("code_verifier", codeVerifier),
        ]
        // GitHub answers in form encoding unless it is asked for JSON.
        var headers = [("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")]
        switch provider.clientAuthentication {
        case .secretBasic(let secret):
            let credentials = FormText.encodeForm(provider.clientID) + ":" + FormText.encodeForm(secret.text)
            headers.append(("Authorization", "Basic " + Base64.padded(Array(credentials.utf8))))
        case .secretPost(let secret):
            parameters.append(FormParameter("client_id", provider.clientID))
            parameters.append(FormParameter("client_secret", secret.text))
        case .privateKeyJWT:
            guard let clientKey, !clientKey.algorithm.isSymmetric else {
                throw ProviderFault(.clientKeyUnusable, "private_key_jwt needs an asymmetric key of the gateway")
            }
            parameters.append(FormParameter("client_id", provider.clientID))
            parameters.append(
                FormParameter("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"))
            parameters.append(
                FormParameter(
                    "client_assertion",
                    try clientAssertion(clientID: provider.clientID, endpoint: endpoint, key: clientKey, now: now)))
        case .none:
            parameters.append(FormParameter("client_id", provider.clientID))
        }
        return ProviderRequest(
            .post, endpoint, headers: headers, body: Array(FormText.encode(parameters).utf8),
            addresses: provider.addresses)
    }

    /// How long a client assertion counts, in seconds.
    static let assertionLifetime: Int64 = 60

    /// The JWT by which the client proves itself (RFC 7523 §3, OpenID Connect Core 1.0 §9).
    ///
    /// Its one audience is the URL that it is sent to and nothing else, so a provider that shows it elsewhere shows a
    /// token that is not for there.
    private static func clientAssertion(
        clientID: String, endpoint: EndpointURL, key: SigningKey, now: Int64
    ) throws(ProviderFault) -> String {
        let issuedAt = now / 1000
        let claims: JSONObject = [
            "iss": .string(clientID), "sub": .string(clientID), "aud": .string(endpoint.text),
            "iat": .integer(issuedAt), "exp": .integer(issuedAt + assertionLifetime),
            "jti": .string(Base64URL.encode(SecureRandom.bytes(16))),
        ]
        do throws(JOSEError) {
            return try key.sign(claims: claims, type: "JWT")
        } catch {
            throw ProviderFault(.clientKeyUnusable, "the client assertion could not be signed: \(error)")
        }
    }
}
