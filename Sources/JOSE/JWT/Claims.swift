import Encodings

/// The claims of a token, with the registered ones read strictly: a wrong type is a refusal, never an absence.
public struct Claims: Sendable {
    /// Every claim in its order.
    public let members: JSONObject
    /// `iss`.
    public let issuer: String?
    /// `sub`.
    public let subject: String?
    /// `aud`, whether it was one string or an array; nil if there is none.
    public let audience: [String]?
    /// `exp`, in seconds since 1970.
    public let expiresAt: Double?
    /// `nbf`, in seconds since 1970.
    public let notBefore: Double?
    /// `iat`, in seconds since 1970.
    public let issuedAt: Double?
    /// `jti`.
    public let tokenID: String?
    /// `client_id` as it is: found in the same pass, judged by the rules.
    let clientID: JSONValue?

    init(_ members: JSONObject) throws(TokenRefusal) {
        var issuer: String?
        var subject: String?
        var audience: [String]?
        var expiresAt: Double?
        var notBefore: Double?
        var issuedAt: Double?
        var tokenID: String?
        var clientID: JSONValue?
        // One pass for all of them.
        for (name, value) in members.members {
            guard let short = ShortName(name) else {
                if name.hasSameBytes(as: ClaimName.clientID) { clientID = value }
                continue
            }
            switch short {
            case .issuer: issuer = try Self.text(value, "iss")
            case .subject: subject = try Self.text(value, "sub")
            case .audience: audience = try Self.audience(value)
            case .expiresAt: expiresAt = try Self.date(value, "exp")
            case .notBefore: notBefore = try Self.date(value, "nbf")
            case .issuedAt: issuedAt = try Self.date(value, "iat")
            case .tokenID: tokenID = try Self.text(value, "jti")
            default: break
            }
        }
        self.members = members
        self.issuer = issuer
        self.subject = subject
        self.audience = audience
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.issuedAt = issuedAt
        self.tokenID = tokenID
        self.clientID = clientID
    }

    /// A claim that must be a string if it is there.
    public func string(_ name: String) throws(TokenRefusal) -> String? {
        guard let value = members[name] else { return nil }
        guard case .string(let text) = value else { throw TokenRefusal(.claimInvalid, "\(name) is not a string") }
        return text
    }

    /// The claim of a name.
    public subscript(name: String) -> JSONValue? {
        members[name]
    }

    // MARK: Types

    private static func text(_ value: JSONValue, _ name: StaticString) throws(TokenRefusal) -> String {
        guard case .string(let text) = value else { throw TokenRefusal(.claimInvalid, "\(name) is not a string") }
        return text
    }

    private static func date(_ value: JSONValue, _ name: StaticString) throws(TokenRefusal) -> Double {
        guard let seconds = NumericDate.seconds(value) else {
            throw TokenRefusal(.claimInvalid, "\(name) is not a date in seconds")
        }
        return seconds
    }

    private static func audience(_ value: JSONValue) throws(TokenRefusal) -> [String] {
        if case .string(let one) = value { return [one] }
        guard case .array(let values) = value else {
            throw TokenRefusal(.claimInvalid, "aud is neither a string nor an array")
        }
        var audience: [String] = []
        audience.reserveCapacity(values.count)
        for value in values { audience.append(try text(value, "a member of aud")) }
        return audience
    }
}
