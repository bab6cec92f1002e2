import Encodings
import Libcrypto

/// Something that happened and that others are told about (`events:` in the configuration).
package struct WebhookEvent: Sendable, Equatable {
    /// The events, by the names of the configuration.
    package enum Kind: String, Sendable, CaseIterable {
        case sessionUpgraded = "session.upgraded"
        case sessionEnded = "session.ended"
        case loginFailed = "login.failed"
        case tokenReuse = "token.reuse"
        case accountDisabled = "account.disabled"
    }

    /// How much of a session id is told: enough to tell sessions apart, too little to address one.
    static let sessionCharacters = 12

    /// `Event-Id` and `jti`: the same in every attempt, so that a receiver that has seen it can pass it over.
    package let id: String
    /// What happened.
    package let kind: Kind
    /// When it happened, in milliseconds since 1970.
    package let occurredAt: Int64
    /// The tenant of ``userID``.
    package let tenantID: String?
    /// The account that it is about; nil where there is none, or an unknown one.
    package let userID: String?
    /// The beginning of the session's id.
    package let session: String?
    /// The identity provider or the way of signing in: `password`, `passkey`, the name of a provider.
    package let method: String?
    /// Why: one of the reasons of the audit log.
    package let reason: String?
    /// The request that caused it.
    package let requestID: String?

    /// - Parameter sessionID: the whole id; only its beginning is kept.
    package init(
        id: String, kind: Kind, occurredAt: Int64, tenantID: String? = nil, userID: String? = nil,
        sessionID: String? = nil, method: String? = nil, reason: String? = nil, requestID: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.occurredAt = occurredAt
        self.tenantID = tenantID
        self.userID = userID
        session = sessionID.map { String(decoding: $0.utf8.prefix(Self.sessionCharacters), as: UTF8.self) }
        self.method = method
        self.reason = reason
        self.requestID = requestID
    }

    /// A new id: `evt_` followed by base64url of 16 random bytes.
    package static func newID() -> String { "evt_" + Base64URL.encode(SecureRandom.bytes(16)) }

    // MARK: Stored form

    /// Everything but the id, as the text that is stored beside it.
    package var stored: String {
        var object: JSONObject = ["kind": .string(kind.rawValue), "at": .integer(occurredAt)]
        for (name, value) in optionalMembers { object[name] = value.map(JSONValue.string) }
        return object.serialized()
    }

    /// Reads the stored form; nil if it is not one.
    package init?(id: String, stored: String) {
        guard let object = try? StrictJSON.object(stored),
            let kind = object["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
            let occurredAt = object["at"]?.int64Value
        else { return nil }
        self.init(
            id: id, kind: kind, occurredAt: occurredAt, tenantID: object["tenant"]?.stringValue,
            userID: object["user"]?.stringValue, sessionID: object["session"]?.stringValue,
            method: object["method"]?.stringValue, reason: object["reason"]?.stringValue,
            requestID: object["request"]?.stringValue)
    }

    private var optionalMembers: [(String, String?)] {
        [
            ("tenant", tenantID), ("user", userID), ("session", session), ("method", method), ("reason", reason),
            ("request", requestID),
        ]
    }
}
