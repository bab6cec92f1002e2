import Answers
import Encodings
import IdentityProviders
import OAuth
import SecurityGuard
import SignIn
import StateSurface
import TrafficCop

/// How a client of `/oauth2/*` proves who it is: HTTP Basic or body members, never both (RFC 6749 section 2.3).
enum OAuthClient {
    private struct Credentials {
        let id: String
        let secret: String
    }

    /// The client; refused when there is none. It may be one without a secret, which has only named itself.
    ///
    /// - Throws: `invalid_client`, also for a secret that is wrong, and `rate_limited` after too many of these.
    static func requireAny(_ call: APICall, _ form: FormBody) async throws -> ClientRecord {
        guard let client = try await authenticate(call, form) else { throw missing }
        return client
    }

    /// The client that has proved itself with its secret; refused when there is none. For introspection, which must not
    /// answer just any client (RFC 7662 section 2.1).
    static func require(_ call: APICall, _ form: FormBody) async throws -> ClientRecord {
        let client = try await requireAny(call, form)
        guard !client.isPublic else { throw missing }
        return client
    }

    private static let missing = OAuthFault(
        .invalidClient, "Client authentication is needed.", reason: "client_missing")

    /// The client that has proved itself, or that has no secret and has named itself; nil for the public client of
    /// password logins. Failed attempts count against the limit of logins.
    ///
    /// - Throws: `invalid_client`, or `invalid_request` where the client authenticates itself in two ways.
    static func authenticate(_ call: APICall, _ form: FormBody) async throws -> ClientRecord? {
        guard let credentials = try credentials(call, form) else {
            guard let id = form["client_id"], !id.hasSameBytes(as: firstPartyClientID) else { return nil }
            guard let client = try await call.services.agents.publicClient(id: id) else {
                throw try await refusal(ofUnproved: id, call)
            }
            return client
        }
        let client = try await call.services.signIn.proveClient(
            id: credentials.id, secret: credentials.secret, clientAddress: call.facts.clientAddress)
        guard let client else {
            throw OAuthFault(.invalidClient, "Client authentication failed.", reason: "client_refused")
        }
        return client
    }

    /// The refusal of a client that has only named itself, where none without a secret has this id. An unknown client
    /// and a disabled one have one reason, so that not even `errors.explain` tells them apart.
    private static func refusal(ofUnproved id: String, _ call: APICall) async throws -> OAuthFault {
        let client = try await call.services.securityGuard.clients.usable(id: id)
        return OAuthFault(
            .invalidClient, "The client is unknown, disabled or has to authenticate itself.",
            reason: client == nil ? "client_unknown_or_disabled" : "secret_missing")
    }

    /// What the request says of its client; nil where it carries no secret. It may name a client all the same.
    private static func credentials(_ call: APICall, _ form: FormBody) throws(OAuthFault) -> Credentials? {
        switch call.facts.authorization {
        case .absent:
            guard let secret = form["client_secret"] else { return nil }
            guard let id = form["client_id"] else {
                throw OAuthFault(.invalidRequest, "'client_secret' comes with 'client_id'.")
            }
            return Credentials(id: id, secret: secret)
        case .basic(let bytes):
            guard form["client_secret"] == nil else {
                throw OAuthFault(.invalidRequest, "The client authenticates itself twice; do it once.")
            }
            guard let credentials = decodeBasic(bytes) else {
                throw OAuthFault(.invalidClient, "Client authentication failed.", reason: "basic_malformed")
            }
            guard form["client_id"].map({ $0.hasSameBytes(as: credentials.id) }) ?? true else {
                throw OAuthFault(.invalidRequest, "'client_id' is another client than Authorization names.")
            }
            return credentials
        case .bearer, .other:
            throw OAuthFault(
                .invalidClient, "Clients authenticate themselves with Basic or in the body.", reason: "scheme_unknown")
        }
    }

    /// `base64(form(id) ":" form(secret))` (RFC 6749 section 2.3.1).
    private static func decodeBasic(_ base64: [UInt8]) -> Credentials? {
        var bytes = base64
        guard bytes.count.isMultiple(of: 4),
            !bytes.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        let alphabet = bytes.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        guard let decoded = Base64URL.decode(alphabet), let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
            let id = FormText.bytes(unescaping: decoded[..<colon]),
            let secret = FormText.bytes(unescaping: decoded[(colon + 1)...]),
            let idText = String(validating: id, as: UTF8.self),
            let secretText = String(validating: secret, as: UTF8.self)
        else { return nil }
        return Credentials(id: idText, secret: secretText)
    }
}
