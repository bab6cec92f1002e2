import Encodings
import JOSE

@testable import IdentityProviders

/// The lies, each with what it has to lead to.
extension LyingProviderTests {
    static let unavailable = "provider_unavailable: "

    // MARK: Discovery

    static let discoveryLies: [Lie] = [
        Lie("another issuer", "issuer_mismatch") { $0.discovery["issuer"] = "https://evil.example" },
        Lie("its issuer with a slash", "issuer_mismatch") { $0.discovery["issuer"] = "https://idp.example/" },
        Lie("no issuer", "issuer_mismatch") { $0.discovery["issuer"] = nil },
        Lie("an issuer in a list", "issuer_mismatch") { $0.discovery["issuer"] = ["https://idp.example"] },
        Lie("no token endpoint", "endpoint_missing") { $0.discovery["token_endpoint"] = nil },
        Lie("a key set over http", "endpoint_refused") { $0.discovery["jwks_uri"] = "http://keys.example/jwks" },
        Lie("a token endpoint on loopback", "endpoint_refused") {
            $0.discovery["token_endpoint"] = "http://127.0.0.1/token"
        },
        Lie("an authorization endpoint that is a script", "endpoint_refused") {
            $0.discovery["authorization_endpoint"] = "javascript:alert(1)"
        },
        Lie("an endpoint with user information", "endpoint_refused") {
            $0.discovery["token_endpoint"] = "https://idp.example@evil.example/token"
        },
        Lie("none as the only algorithm", "algorithms_refused") {
            $0.discovery["id_token_signing_alg_values_supported"] = ["none"]
        },
        Lie("shared secrets as the only algorithms", "algorithms_refused") {
            $0.discovery["id_token_signing_alg_values_supported"] = ["HS256", "HS512"]
        },
        Lie("PKCE by plain only", "pkce_unsupported") { $0.discovery["code_challenge_methods_supported"] = ["plain"] },
        Lie("no code flow", "code_flow_unsupported") { $0.discovery["response_types_supported"] = ["id_token"] },
        Lie("methods that are no list", "malformed") { $0.discovery["code_challenge_methods_supported"] = "S256" },
        Lie("a duplicate member", "malformed") {
            $0.discoveryAnswer = { answer in
                answer.with(body: Array("{\"issuer\":\"https://idp.example\",\"issuer\":\"https://idp.example\"}".utf8))
            }
        },
        Lie("a document of 300 KiB", "too_large") {
            $0.discoveryAnswer = { $0.with(body: [UInt8](repeating: 0x20, count: 300 * 1024)) }
        },
        Lie("a page", "content_type_unexpected") { $0.discoveryAnswer = { $0.with(contentType: "text/html") } },
        Lie("a redirect", "status_unexpected") { $0.discoveryAnswer = { $0.with(status: 302) } },
        Lie("nothing at all", "unreachable") { $0.discoveryAnswer = { _ in throw CancellationError() } },
    ]

    // MARK: The response

    static let responseLies: [Lie] = [
        Lie("mix-up: the issuer of another provider", unavailable + "response_issuer_mismatch") {
            $0.response = { $0.replacing("iss", "https://evil.example") }
        },
        Lie("no issuer though it is announced", unavailable + "response_issuer_missing") {
            $0.response = { $0.replacing("iss", nil) }
        },
        Lie("two issuers", unavailable + "response_repeated") {
            $0.response = { $0 + [FormParameter("iss", "https://evil.example")] }
        },
        Lie("two codes", unavailable + "response_repeated") {
            $0.response = { $0 + [FormParameter("code", "another")] }
        },
        Lie("no code", unavailable + "response_incomplete") { $0.response = { $0.replacing("code", nil) } },
        Lie("an empty code", unavailable + "response_incomplete") { $0.response = { $0.replacing("code", "") } },
        Lie("a code with a line feed", unavailable + "response_incomplete") {
            $0.response = { $0.replacing("code", "a\nb") }
        },
        Lie("a code of 5,000 bytes", unavailable + "response_incomplete") {
            $0.response = { $0.replacing("code", String(repeating: "a", count: 5_000)) }
        },
        Lie("a refusal", "login_refused: access_denied") {
            $0.response = { $0 + [FormParameter("error", "access_denied")] }
        },
        Lie("a refusal to go on without asking", "login_refused: login_required") {
            $0.response = { $0.replacing("code", nil) + [FormParameter("error", "login_required")] }
        },
        Lie("an error of its own", unavailable + "authorization_failed") {
            $0.response = { $0 + [FormParameter("error", "<script>")] }
        },
        Lie("a refusal in another's name", unavailable + "response_issuer_mismatch") {
            $0.response = { $0.replacing("iss", "https://evil.example") + [FormParameter("error", "access_denied")] }
        },
    ]

    // MARK: The token endpoint

    static let tokenLies: [Lie] = [
        Lie("a refused code", unavailable + "code_refused") {
            $0.tokenAnswer = { _ in .json(["error": "invalid_grant"], status: 400) }
        },
        Lie("a refused client", unavailable + "client_refused") {
            $0.tokenAnswer = { _ in .json(["error": "invalid_client"], status: 401) }
        },
        Lie("an error with status 200", unavailable + "code_refused") { $0.editTokens = { $0["error"] = "bad_code" } },
        Lie("a page with status 400", unavailable + "status_unexpected") {
            $0.tokenAnswer = { $0.with(status: 400, contentType: "text/html") }
        },
        Lie("a redirect", unavailable + "status_unexpected") { $0.tokenAnswer = { $0.with(status: 307) } },
        Lie("a fault of its own", unavailable + "status_unexpected") { $0.tokenAnswer = { $0.with(status: 500) } },
        Lie("nothing", unavailable + "unreachable") { $0.tokenAnswer = { _ in throw CancellationError() } },
        Lie("too late", unavailable + "timed_out") { $0.tokenAnswer = { _ in throw ProviderFault(.timedOut, "5 s") } },
        Lie("text", unavailable + "content_type_unexpected") {
            $0.tokenAnswer = { $0.with(contentType: "text/plain") }
        },
        Lie("half a document", unavailable + "malformed") {
            $0.tokenAnswer = { $0.with(body: Array($0.body.dropLast())) }
        },
        Lie("a list", unavailable + "malformed") { $0.tokenAnswer = { _ in .json([]) } },
        Lie("too much", unavailable + "too_large") {
            $0.tokenAnswer = { $0.with(body: [UInt8](repeating: 0x20, count: 300 * 1024)) }
        },
        Lie("a token bound to a key", unavailable + "token_type_unsupported") {
            $0.editTokens = { $0["token_type"] = "DPoP" }
        },
        Lie("no token type", unavailable + "token_type_unsupported") { $0.editTokens = { $0["token_type"] = nil } },
        Lie("no access token", unavailable + "access_token_missing") { $0.editTokens = { $0["access_token"] = nil } },
        Lie("an access token that ends a header", unavailable + "access_token_missing") {
            $0.editTokens = { $0["access_token"] = "a\r\nHost: evil" }
        },
        Lie("no ID token", unavailable + "id_token_missing") { $0.editTokens = { $0["id_token"] = nil } },
        Lie("an ID token that is no string", unavailable + "id_token_missing") {
            $0.editTokens = { $0["id_token"] = 1 }
        },
    ]

    // MARK: The ID token

    static let idTokenLies: [Lie] = [
        Lie("another issuer", unavailable + "issuer_mismatch") { $0.claims["iss"] = "https://evil.example" },
        Lie("no issuer", unavailable + "claim_missing") { $0.claims["iss"] = nil },
        Lie("another audience", unavailable + "audience_mismatch") { $0.claims["aud"] = "another" },
        Lie("no audience", unavailable + "claim_missing") { $0.claims["aud"] = nil },
        Lie("an audience that begins alike", unavailable + "audience_mismatch") { $0.claims["aud"] = "client2" },
        Lie("several audiences and no azp", unavailable + "audience_mismatch") {
            $0.claims["aud"] = ["client", "other"]
            $0.claims["azp"] = nil
        },
        Lie("another authorized party", unavailable + "audience_mismatch") { $0.claims["azp"] = "other" },
        Lie("no subject", unavailable + "claim_missing") { $0.claims["sub"] = nil },
        Lie("an empty subject", unavailable + "claim_invalid") { $0.claims["sub"] = "" },
        Lie("a subject of 256 bytes", unavailable + "claim_invalid") {
            $0.claims["sub"] = .string(String(repeating: "a", count: 256))
        },
        Lie("a subject with a line feed", unavailable + "subject_malformed") { $0.claims["sub"] = "a\nb" },
        Lie("an end that has come", unavailable + "expired") {
            $0.claims["iat"] = 1_799_999_900
            $0.claims["exp"] = 1_799_999_970
        },
        Lie("no end", unavailable + "claim_missing") { $0.claims["exp"] = nil },
        Lie("an end in words", unavailable + "claim_invalid") { $0.claims["exp"] = "1800000300" },
        Lie("a beginning to come", unavailable + "issued_in_future") { $0.claims["iat"] = 1_800_000_036 },
        Lie("a beginning of more than 30 days ago", unavailable + "lifetime_exceeded") {
            $0.claims["iat"] = 1_797_407_999
        },
        Lie("no beginning", unavailable + "claim_missing") { $0.claims["iat"] = nil },
        Lie("nbf to come", unavailable + "not_yet_valid") { $0.claims["nbf"] = 1_800_000_036 },
        Lie("another nonce", unavailable + "claim_invalid") { $0.editClaims = { $0["nonce"] = "another" } },
        Lie("no nonce", unavailable + "claim_missing") { $0.editClaims = { $0["nonce"] = nil } },
        Lie("a nonce in a list", unavailable + "claim_invalid") {
            $0.editClaims = { $0["nonce"] = .array([$0["nonce"] ?? ""]) }
        },
        Lie("the hash of another access token", unavailable + "claim_invalid") {
            $0.editTokens = { $0["access_token"] = "another" }
        },
        Lie("a hash that is no string", unavailable + "claim_invalid") { $0.claims["at_hash"] = 1 },
        Lie("the type of an access token", unavailable + "type_mismatch") { $0.type = "at+jwt" },
        Lie("the type of a logout token", unavailable + "type_mismatch") { $0.type = "logout+jwt" },
        Lie("an event", unavailable + "type_mismatch") { $0.claims["events"] = [:] },
        Lie("an extension that must be understood", unavailable + "critical_header") {
            $0.editIDToken = { reheadered($0) { $0["crit"] = ["exp"] } }
        },
        Lie("the algorithm none", unavailable + "algorithm_not_allowed") {
            $0.editIDToken = { token in
                reheadered(token) { $0["alg"] = "none" }.split(separator: ".").prefix(2).joined(separator: ".") + "."
            }
        },
        Lie("another algorithm than the key's", unavailable + "algorithm_mismatch") {
            $0.editIDToken = { reheadered($0) { $0["alg"] = "RS256" } }
        },
        Lie("a shared secret", unavailable + "key_unknown") { $0.signer = try TestKeys.symmetric.get() },
        Lie("the signature of a key that is not published", unavailable + "key_unknown") {
            $0.signer = try TestKeys.other.get()
        },
        Lie("the kid of another key", unavailable + "algorithm_mismatch") {
            let kid = try TestKeys.rsa.get().keyID
            $0.editIDToken = { reheadered($0) { $0["kid"] = .string(kid) } }
        },
        Lie("a changed payload", unavailable + "signature_invalid") {
            $0.editIDToken = { token in
                var parts = token.split(separator: ".").map(String.init)
                parts[1] = Base64URL.encode("{\"iss\":\"https://idp.example\"}".utf8)
                return parts.joined(separator: ".")
            }
        },
        Lie("no token but text", unavailable + "malformed") { $0.editIDToken = { _ in "a.b" } },
        Lie("an encrypted token", unavailable + "malformed") { $0.editIDToken = { $0 + ".a.b" } },
        Lie("a token of 70 KB", unavailable + "too_large") {
            $0.claims["groups"] = .array(
                [JSONValue](repeating: .string(String(repeating: "g", count: 600)), count: 100))
        },
        Lie("no auth_time though max_age was asked", unavailable + "claim_missing") {
            $0.hints.maximumAge = 60
            $0.claims["auth_time"] = nil
        },
        Lie("a sign-in longer ago than max_age", unavailable + "claim_invalid") {
            $0.hints.maximumAge = 60
            $0.claims["auth_time"] = 1_799_999_914
        },
        Lie("a sign-in to come", unavailable + "issued_in_future") {
            $0.hints.maximumAge = 60
            $0.claims["auth_time"] = 1_800_000_036
        },
    ]

    // MARK: Keys

    static let keySetLies: [Lie] = [
        Lie("no keys", unavailable + "key_unknown") { $0.keys = [] },
        Lie("a shared secret among them", unavailable + "key_set_refused") {
            $0.keySetAnswer = { answer in
                let text = String(decoding: answer.body, as: UTF8.self)
                let secret = "{\"kty\":\"oct\",\"k\":\"\(String(repeating: "A", count: 43))\"},"
                return answer.with(body: Array(text.replacing("[", with: "[" + secret, maxReplacements: 1).utf8))
            }
        },
        Lie("a redirect", unavailable + "status_unexpected") { $0.keySetAnswer = { $0.with(status: 301) } },
        Lie("a page", unavailable + "content_type_unexpected") {
            $0.keySetAnswer = { $0.with(contentType: "text/html") }
        },
        Lie("half a document", unavailable + "key_set_refused") {
            $0.keySetAnswer = { $0.with(body: Array($0.body.dropLast())) }
        },
        Lie("too much", unavailable + "too_large") {
            $0.keySetAnswer = { $0.with(body: [UInt8](repeating: 0x20, count: 300 * 1024)) }
        },
        Lie("nothing", unavailable + "unreachable") { $0.keySetAnswer = { _ in throw CancellationError() } },
        Lie("keys for an algorithm that it does not announce", unavailable + "key_unknown") {
            $0.discovery["id_token_signing_alg_values_supported"] = ["RS256"]
        },
        Lie("a key set on a private network", unavailable + "address_refused") {
            $0.discovery["jwks_uri"] = "https://10.0.0.1/jwks"
        },
        Lie("a key set in the metadata of a cloud", unavailable + "address_refused") {
            $0.discovery["jwks_uri"] = "https://[::ffff:169.254.169.254]/jwks"
        },
    ]

    // MARK: Userinfo

    static let userInfoLies: [Lie] = [
        Lie("another person", unavailable + "userinfo_subject_mismatch") { $0.userInfo["sub"] = "person-2" },
        Lie("no subject", unavailable + "userinfo_subject_mismatch") { $0.userInfo["sub"] = nil },
        Lie("a signed answer", unavailable + "content_type_unexpected") {
            $0.userInfoAnswer = { $0.with(contentType: "application/jwt") }
        },
        Lie("a refusal", unavailable + "status_unexpected") { $0.userInfoAnswer = { $0.with(status: 401) } },
        Lie("no userinfo endpoint", unavailable + "endpoint_missing") { $0.discovery["userinfo_endpoint"] = nil },
    ]

    // MARK: What is no lie

    static let truths: [Lie] = [
        Lie("no typ", "identified") { $0.type = nil },
        Lie("a typ in lower case", "identified") { $0.type = "jwt" },
        Lie("several audiences and azp", "identified") { $0.claims["aud"] = ["other", "client"] },
        Lie("no azp for one audience", "identified") { $0.claims["azp"] = nil },
        Lie("no at_hash", "identified") { $0.claims["at_hash"] = nil },
        Lie("a beginning of 30 days ago", "identified") { $0.claims["iat"] = 1_797_408_005 },
        Lie("an end within the skew", "identified") { $0.claims["exp"] = 1_800_000_000 },
        Lie("a beginning within the skew", "identified") { $0.claims["iat"] = 1_800_000_034 },
        Lie("a sign-in within max_age", "identified") { $0.hints.maximumAge = 60 },
        Lie("silence about PKCE", "identified") { $0.discovery["code_challenge_methods_supported"] = nil },
        Lie("silence about iss", "identified") {
            $0.discovery["authorization_response_iss_parameter_supported"] = nil
            $0.response = { $0.replacing("iss", nil) }
        },
        Lie("an RSA key", "identified") {
            $0.signer = try TestKeys.rsa.get()
            $0.discovery["id_token_signing_alg_values_supported"] = nil
        },
        Lie("a bearer token in capitals", "identified") { $0.editTokens = { $0["token_type"] = "BEARER" } },
    ]
}

/// The token with another header and its old signature.
private func reheadered(_ token: String, _ edit: (inout JSONObject) -> Void) -> String {
    var parts = token.split(separator: ".").map(String.init)
    guard parts.count == 3, let bytes = Base64URL.decode(parts[0]), var header = try? StrictJSON.object(bytes) else {
        return token
    }
    edit(&header)
    parts[0] = Base64URL.encode(header.serializedBytes())
    return parts.joined(separator: ".")
}
