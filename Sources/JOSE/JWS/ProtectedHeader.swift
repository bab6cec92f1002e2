import Encodings

/// The protected header of a compact JWS (RFC 7515 section 4).
///
/// `jku`, `jwk`, `x5u` and `x5c` are ordinary members of ``all``. They are never followed (RFC 8725 section 3.10).
public struct ProtectedHeader: Sendable {
    // One reference, so that copying the header of a token that was seen before costs one retain.
    private let content: Content

    private final class Content: Sendable {
        let algorithm: String
        let keyID: String?
        let type: String?
        let all: JSONObject
        let demandsExtension: Bool
        let isNested: Bool

        init(
            _ all: JSONObject, algorithm: String, keyID: String?, type: String?, demandsExtension: Bool, isNested: Bool
        ) {
            self.all = all
            self.algorithm = algorithm
            self.keyID = keyID
            self.type = type
            self.demandsExtension = demandsExtension
            self.isNested = isNested
        }
    }

    /// The `alg` that the token states. The algorithm used is that of the key.
    public var algorithm: String { content.algorithm }
    /// The `kid`, at most 128 bytes; nil if there is none.
    public var keyID: String? { content.keyID }
    /// The `typ` as written; nil if there is none.
    public var type: String? { content.type }
    /// All members in the order of the text.
    public var all: JSONObject { content.all }
    /// Whether `crit` or `b64` is present. No extension is supported, so such a token is refused (RFC 7515 section
    /// 4.1.11, RFC 7797).
    var demandsExtension: Bool { content.demandsExtension }
    /// Whether `cty` says that the payload is a nested token (RFC 7519 section 5.2).
    var isNested: Bool { content.isNested }

    init(_ object: JSONObject) throws(TokenRefusal) {
        var algorithm: String?
        var keyID: String?
        var type: String?
        var demandsExtension = false
        var isNested = false
        for (name, value) in object.members {
            guard let short = ShortName(name) else {
                if name.hasSameBytes(as: HeaderName.critical) { demandsExtension = true }
                continue
            }
            switch short {
            case .algorithm: algorithm = try Self.text(value, "alg")
            case .keyID: keyID = try Self.text(value, "kid")
            case .type: type = try Self.text(value, "typ")
            case .contentType: isNested = MediaType(try Self.text(value, "cty")).isSame(as: "JWT")
            case .unencodedPayload: demandsExtension = true
            default: break
            }
        }
        guard let algorithm else { throw TokenRefusal(.malformed, "the header has no alg") }
        if let keyID, keyID.utf8.count > JWK.maximumKeyIDBytes {
            throw TokenRefusal(.malformed, "the kid is longer than \(JWK.maximumKeyIDBytes) bytes")
        }
        content = Content(
            object, algorithm: algorithm, keyID: keyID, type: type, demandsExtension: demandsExtension,
            isNested: isNested)
    }

    private static func text(_ value: JSONValue, _ name: StaticString) throws(TokenRefusal) -> String {
        guard case .string(let text) = value else { throw TokenRefusal(.malformed, "\(name) is not a string") }
        return text
    }
}
