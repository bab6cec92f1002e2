import Encodings

/// The claims of a token (RFC 7519 section 4). A registered claim of the wrong type makes the token refused; it is not
/// treated as missing.
///
/// Values are kept as JSON text and made when they are asked for.
public struct Claims: Sendable {
    /// `exp`, in seconds since 1970.
    public let expiresAt: Double?
    /// `nbf`, in seconds since 1970.
    public let notBefore: Double?
    /// `iat`, in seconds since 1970.
    public let issuedAt: Double?
    private let index: JSONIndex
    private let places: Places

    /// The indices of the claims that every check needs; -1 for those that are missing.
    private struct Places {
        var issuer = -1
        var subject = -1
        var audience = -1
        var tokenID = -1
        var clientID = -1
    }

    init(_ index: JSONIndex) throws(TokenRefusal) {
        var places = Places()
        var expiresAt: Double?
        var notBefore: Double?
        var issuedAt: Double?
        for place in index.members.indices {
            guard let name = ShortName(packed: index.members[place].name.short) else {
                if index.isNamed(ClaimName.clientID, at: place) { places.clientID = place }
                continue
            }
            switch name {
            case .issuer:
                try Self.checkText(index.members[place].value, "iss")
                places.issuer = place
            case .subject:
                try Self.checkText(index.members[place].value, "sub")
                places.subject = place
            case .audience:
                try Self.checkAudience(index.members[place].value)
                places.audience = place
            case .tokenID:
                try Self.checkText(index.members[place].value, "jti")
                places.tokenID = place
            case .expiresAt: expiresAt = try Self.date(index.number(at: place), "exp")
            case .notBefore: notBefore = try Self.date(index.number(at: place), "nbf")
            case .issuedAt: issuedAt = try Self.date(index.number(at: place), "iat")
            default: break
            }
        }
        self.index = index
        self.places = places
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.issuedAt = issuedAt
    }

    // MARK: Reading

    /// All claims in the order of the text. The object is made on each access.
    public var members: JSONObject { index.object }

    /// `iss`.
    public var issuer: String? { text(places.issuer) }
    /// `sub`.
    public var subject: String? { text(places.subject) }
    /// `jti`.
    public var tokenID: String? { text(places.tokenID) }
    /// `aud` as an array, also if it is a single string; nil if there is none.
    public var audience: [String]? {
        guard places.audience >= 0 else { return nil }
        return switch index.value(at: places.audience) {
        case .string(let one): [one]
        case .array(let values): values.compactMap(\.stringValue)
        default: nil
        }
    }

    /// A claim that must be a string if it is present.
    ///
    /// - Throws: ``TokenRefusal/Reason/claimInvalid`` for a value of another type.
    public func string(_ name: String) throws(TokenRefusal) -> String? {
        guard let place = index.place(of: name) else { return nil }
        guard let text = index.string(at: place) else {
            throw TokenRefusal(.claimInvalid, "\(name) is not a string")
        }
        return text
    }

    /// The value of a claim, or nil.
    public subscript(name: String) -> JSONValue? {
        guard let place = index.place(of: name) else { return nil }
        return index.value(at: place)
    }

    private func text(_ place: Int) -> String? {
        place < 0 ? nil : index.string(at: place)
    }

    // MARK: Comparing

    /// Whether `iss` is exactly this; nil if there is none.
    func isIssuer(_ wanted: String) -> Bool? {
        places.issuer < 0 ? nil : index.isString(wanted, at: places.issuer)
    }

    /// Whether `sub` is exactly this; nil if there is none.
    func isSubject(_ wanted: String) -> Bool? {
        places.subject < 0 ? nil : index.isString(wanted, at: places.subject)
    }

    /// Whether `aud` is present.
    var hasAudience: Bool { places.audience >= 0 }

    /// Whether `aud` is or contains exactly this string.
    func isFor(_ wanted: String) -> Bool {
        let place = places.audience
        return place >= 0 && (index.isString(wanted, at: place) || index.holds(wanted, at: place))
    }

    /// Whether `client_id` is present and not a string.
    var hasOddClientID: Bool {
        places.clientID >= 0 && index.members[places.clientID].value.kind != .string
    }

    /// Whether a claim is present, and whether its value is empty or null.
    enum Presence { case there, missing, empty }

    /// The presence of a claim. The registered ones were found and checked when the claims were read.
    func presence(of claim: RequiredClaim) -> Presence {
        switch claim.short {
        case .issuer?: presence(at: places.issuer)
        case .subject?: presence(at: places.subject)
        case .tokenID?: presence(at: places.tokenID)
        case .audience?:
            // An empty string counts as present: it is refused later, as an audience that is not accepted.
            hasAudience && index.members[places.audience].value.kind == .string
                ? .there : presence(at: places.audience)
        case .expiresAt?: expiresAt == nil ? .missing : .there
        case .notBefore?: notBefore == nil ? .missing : .there
        case .issuedAt?: issuedAt == nil ? .missing : .there
        default: presence(at: claim.isClientID ? places.clientID : index.place(of: claim.name) ?? -1)
        }
    }

    private func presence(at place: Int) -> Presence {
        guard place >= 0 else { return .missing }
        let value = index.members[place].value
        return switch value.kind {
        case .null: .empty
        case .string, .array: value.isEmpty ? .empty : .there
        default: .there
        }
    }

    // MARK: Types

    private static func checkText(_ value: JSONIndex.Value, _ name: StaticString) throws(TokenRefusal) {
        guard value.kind == .string else { throw TokenRefusal(.claimInvalid, "\(name) is not a string") }
    }

    private static func date(_ number: Double?, _ name: StaticString) throws(TokenRefusal) -> Double {
        guard let seconds = NumericDate.seconds(number) else {
            throw TokenRefusal(.claimInvalid, "\(name) is not a date in seconds")
        }
        return seconds
    }

    private static func checkAudience(_ value: JSONIndex.Value) throws(TokenRefusal) {
        if value.kind == .string { return }
        guard value.kind == .array else {
            throw TokenRefusal(.claimInvalid, "aud is neither a string nor an array")
        }
        guard value.holdsStringsOnly else {
            throw TokenRefusal(.claimInvalid, "a member of aud is not a string")
        }
    }
}
