import Encodings

/// The protected header of a compact JWS (RFC 7515 §4).
///
/// `jku`, `jwk`, `x5u` and `x5c` are plain members of `all`: nothing here follows them.
public struct ProtectedHeader: Sendable {
    // One reference, because the same header is handed to one token after another.
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

    /// The `alg` as the token says it; what is used comes from the key.
    public var algorithm: String { content.algorithm }
    /// The `kid`.
    public var keyID: String? { content.keyID }
    /// The `typ` as written.
    public var type: String? { content.type }
    /// Every member in its order.
    public var all: JSONObject { content.all }
    /// Whether a member demands an extension; there are none here.
    var demandsExtension: Bool { content.demandsExtension }
    /// Whether `cty` says that the payload is another token.
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

/// A media type as `typ` and `cty` write it: `application/` may be left out, and the case of letters means nothing.
struct MediaType {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    func isSame(as other: String) -> Bool {
        Self.short(text).elementsEqual(Self.short(other)) { Self.lowered($0) == Self.lowered($1) }
    }

    private static func short(_ text: String) -> Substring.UTF8View {
        let prefix = "application/".utf8
        let bytes = text[...].utf8
        guard bytes.count > prefix.count, bytes.prefix(prefix.count).elementsEqual(prefix, by: { lowered($0) == $1 })
        else { return bytes }
        let rest = bytes.dropFirst(prefix.count)
        return rest.contains(UInt8(ascii: "/")) ? bytes : rest
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
