import Encodings
import Libcrypto

/// The session of the browser that signs in, as it proved itself with its cookie.
package struct BrowserSession: Sendable {
    /// The session's id.
    package let sessionID: String
    /// Raised by every change of privilege.
    package let epoch: Int64
    /// The session's current secret, as it was shown. Never kept.
    let secret: String

    package init(sessionID: String, epoch: Int64, secret: String) {
        self.sessionID = sessionID
        self.epoch = epoch
        self.secret = secret
    }
}

/// The values that tie an authorization response to the browser that asked for it: `state`, `nonce` (OpenID Connect
/// Core 1.0 §3.1.2.1) and the PKCE code verifier (RFC 7636 §4.1).
///
/// `state` is random. The other two are HMACs of it under the session's secret, so nothing that could finish the
/// sign-in needs to be stored: it takes the `state` that comes back and the cookie of the same browser, with the same
/// secret. (Of the same idea for `nonce`, see OpenID Connect Core 1.0 §15.5.2.)
struct LoginSecrets: Sendable {
    let state: String
    let nonce: String
    let codeVerifier: String

    /// Fresh ones for a session.
    init(for session: BrowserSession) {
        self.init(state: Base64URL.encode(SecureRandom.bytes(32)), session: session)
    }

    /// Those that belong to a `state` and a session.
    init(state: String, session: BrowserSession) {
        self.state = state
        nonce = Self.derive("nonce", state, session)
        codeVerifier = Self.derive("code_verifier", state, session)
    }

    /// The S256 code challenge (RFC 7636 §4.2).
    var codeChallenge: String { PKCE.challenge(ofVerifier: codeVerifier) }

    private static func derive(_ purpose: String, _ state: String, _ session: BrowserSession) -> String {
        let message = "gatehouse \(purpose)\n\(session.sessionID)\n\(session.epoch)\n\(state)"
        return Base64URL.encode(HMAC.sha256(key: Array(session.secret.utf8), message.utf8))
    }
}

/// Proof Key for Code Exchange (RFC 7636), with S256 only.
package enum PKCE {
    /// The challenge of a verifier: base64url of its SHA-256.
    package static func challenge(ofVerifier verifier: String) -> String {
        Base64URL.encode(Digest.sha256(verifier.utf8))
    }
}
