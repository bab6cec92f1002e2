import Encodings

/// The claims of a token, with the registered ones read strictly: a wrong type is a refusal, never an absence.
public struct Claims: Sendable {
    /// Every claim in its order.
    public let members: JSONObject
    /// `exp`, in seconds since 1970.
    public let expiresAt: Double?
    /// `nbf`, in seconds since 1970.
    public let notBefore: Double?
    /// `iat`, in seconds since 1970.
    public let issuedAt: Double?
    private let places: Places

    /// Where the texts are among the members: copies would be one more thing to count references of.
    private struct Places {
        var issuer = -1
        var subject = -1
        var audience = -1
        var tokenID = -1
        var clientID = -1
    }

    init(_ members: JSONObject) throws(TokenRefusal) {
        var places = Places()
        var expiresAt: Double?
        var notBefore: Double?
        var issuedAt: Double?
        // One pass, by index: iterating would count a reference to every name and value.
        let list = members.list
        for index in list.indices {
            guard let name = ShortName(list[index].name) else {
                if list[index].name.hasSameBytes(as: ClaimName.clientID) { places.clientID = index }
                continue
            }
            switch name {
            case .issuer:
                try Self.checkText(list[index].value, "iss")
                places.issuer = index
            case .subject:
                try Self.checkText(list[index].value, "sub")
                places.subject = index
            case .audience:
                try Self.checkAudience(list[index].value)
                places.audience = index
            case .tokenID:
                try Self.checkText(list[index].value, "jti")
                places.tokenID = index
            case .expiresAt: expiresAt = try Self.date(list[index].value, "exp")
            case .notBefore: notBefore = try Self.date(list[index].value, "nbf")
            case .issuedAt: issuedAt = try Self.date(list[index].value, "iat")
            default: break
            }
        }
        self.members = members
        self.places = places
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.issuedAt = issuedAt
    }

    /// `iss`.
    public var issuer: String? { value(places.issuer)?.stringValue }
    /// `sub`.
    public var subject: String? { value(places.subject)?.stringValue }
    /// `jti`.
    public var tokenID: String? { value(places.tokenID)?.stringValue }
    /// `aud`, whether it was one string or an array; nil if there is none.
    public var audience: [String]? {
        switch value(places.audience) {
        case .string(let one): [one]
        case .array(let values): values.compactMap(\.stringValue)
        default: nil
        }
    }
    /// `client_id` as it is: found in the same pass, judged by the rules.
    var clientID: JSONValue? { value(places.clientID) }

    /// Whether `aud` is there.
    var hasAudience: Bool { places.audience >= 0 }

    /// Whether a claim is there, and whether it says anything.
    enum Presence { case there, missing, empty }

    /// The presence of `iss`, `sub`, `jti` or `aud`, without taking a copy.
    func presence(of name: ShortName) -> Presence {
        let place =
            switch name {
            case .issuer: places.issuer
            case .subject: places.subject
            case .tokenID: places.tokenID
            default: places.audience
            }
        guard place >= 0 else { return .missing }
        return switch members.list[place].value {
        case .string(let text): text.isEmpty && name != .audience ? .empty : .there
        case .array(let values): values.isEmpty ? .empty : .there
        default: .there
        }
    }

    /// Whether `aud` names exactly this audience.
    func isFor(_ wanted: String) -> Bool {
        switch value(places.audience) {
        case .string(let one): one.hasSameBytes(as: wanted)
        case .array(let values):
            values.contains { value in
                if case .string(let text) = value { text.hasSameBytes(as: wanted) } else { false }
            }
        default: false
        }
    }

    private func value(_ place: Int) -> JSONValue? {
        place < 0 ? nil : members.list[place].value
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

    private static func checkText(_ value: JSONValue, _ name: StaticString) throws(TokenRefusal) {
        guard case .string = value else { throw TokenRefusal(.claimInvalid, "\(name) is not a string") }
    }

    private static func date(_ value: JSONValue, _ name: StaticString) throws(TokenRefusal) -> Double {
        guard let seconds = NumericDate.seconds(value) else {
            throw TokenRefusal(.claimInvalid, "\(name) is not a date in seconds")
        }
        return seconds
    }

    private static func checkAudience(_ value: JSONValue) throws(TokenRefusal) {
        if case .string = value { return }
        guard case .array(let values) = value else {
            throw TokenRefusal(.claimInvalid, "aud is neither a string nor an array")
        }
        for value in values { try checkText(value, "a member of aud") }
    }
}
