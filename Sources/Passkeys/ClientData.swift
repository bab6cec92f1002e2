import Encodings
import Libcrypto

/// What the browser says about a ceremony (`CollectedClientData`, WebAuthn Level 3 §5.8.1): the part that no page can
/// forge.
struct ClientData: Sendable {
    /// The longest text, in bytes. Browsers send some hundred.
    static let maximumBytes = 4096

    let type: String
    let challenge: [UInt8]
    let origin: String
    /// Whether the page was in a frame of another origin.
    let isCrossOrigin: Bool

    /// Reads the text. Members that are not known are passed over: browsers add some so that no reader relies on there
    /// being none.
    init(_ bytes: [UInt8]) throws(PasskeyRefusal) {
        guard let object = try? StrictJSON.object(bytes, limits: JSONLimits(maxBytes: Self.maximumBytes, maxDepth: 8)),
            let type = object["type"]?.stringValue, let origin = object["origin"]?.stringValue,
            let challenge = object["challenge"]?.stringValue.flatMap({ Base64URL.decode($0) })
        else { throw .clientDataMalformed }
        self.type = type
        self.origin = origin
        self.challenge = challenge
        switch object["crossOrigin"] {
        case nil, .bool(false)?: isCrossOrigin = object["topOrigin"] != nil
        case .bool(true)?: isCrossOrigin = true
        default: throw .clientDataMalformed
        }
    }

    /// Judges it for a ceremony of a kind (§7.1 and §7.2, from "type" to "topOrigin").
    func refusal(of ceremony: Ceremony, _ party: RelyingParty) -> PasskeyRefusal? {
        let wanted = ceremony.kind == .registration ? "webauthn.create" : "webauthn.get"
        guard type.hasSameBytes(as: wanted) else { return .typeMismatch }
        guard ConstantTime.equal(Digest.sha256(challenge), ceremony.challengeHash) else { return .challengeMismatch }
        guard party.accepts(origin: origin) else { return .originMismatch }
        return isCrossOrigin ? .crossOrigin : nil
    }
}
