import Encodings
import JOSE

/// What attacks are made from: a valid token, the published keys and, for signed attacks, a trusted signer.
public struct AttackMaterial: Sendable {
    /// The valid token.
    public let goodToken: [UInt8]
    /// The published key set as it was served.
    public let keySetText: [UInt8]?
    /// The published key that verifies the valid token.
    public let key: VerificationKey?
    /// The signer that the target trusts.
    public let issuer: TestIssuer?
    /// Seconds since 1970.
    public let now: Int64
    /// The URL of a listener that counts connections; nil if there is none.
    public let canaryURL: String?

    /// The valid token's header, which has not been verified.
    let header: JSONObject
    /// The valid token's claims, which have not been verified.
    let claims: JSONObject
    let payload: [UInt8]
    let signature: [UInt8]
    /// The valid token's three texts.
    let segments: Segments

    /// Parses the valid token and the key set.
    ///
    /// - Parameters:
    ///   - goodToken: a token that the target accepts.
    ///   - keySet: the JWKS as it was served.
    ///   - issuer: a signer that the target trusts.
    ///   - now: seconds since 1970.
    ///   - canaryURL: the URL of a listener that counts connections.
    ///
    /// - Throws: ``MaterialError`` if the token is no JWT, the key set cannot be read, or it does not hold the token's
    ///   key.
    public init(
        goodToken: some Collection<UInt8>, keySet: [UInt8]? = nil, issuer: TestIssuer? = nil, now: Int64,
        canaryURL: String? = nil
    ) throws(MaterialError) {
        let bytes = Array(goodToken)
        let token: UnverifiedToken
        let claims: Claims
        do throws(TokenRefusal) {
            token = try UnverifiedToken(bytes)
            claims = try token.unverifiedClaims()
        } catch {
            throw MaterialError(.tokenUnreadable, "the good token is no JWT: \(error.detail)")
        }
        guard let segments = Segments(bytes), let signature = Base64URL.decode(segments.signature) else {
            throw MaterialError(.tokenUnreadable, "the good token is no JWT")
        }
        self.goodToken = bytes
        self.segments = segments
        self.signature = signature
        self.header = token.header.all
        self.claims = claims.members
        self.payload = token.unverifiedPayload
        self.issuer = issuer
        self.now = now
        self.canaryURL = canaryURL
        keySetText = keySet
        key = try keySet.map { text throws(MaterialError) in try Self.key(of: token.header, in: text) }
    }

    private static func key(of header: ProtectedHeader, in text: [UInt8]) throws(MaterialError) -> VerificationKey {
        let set: JWKSet
        do throws(JOSEError) {
            // All algorithms, because an attack may use those that are off by default.
            set = try JWKSet(parsing: text, policy: .remote, algorithms: SignatureAlgorithm.allCases)
        } catch {
            throw MaterialError(.keySetUnreadable, "the key set: \(error.message)")
        }
        guard case .success(let key) = set.key(for: header) else {
            throw MaterialError(.keyMissing, "the key set does not hold the good token's key")
        }
        return key
    }

    /// The valid token's `exp`, in seconds since 1970.
    public var goodTokenExpiry: Int64? { claims["exp"]?.int64Value }
    var algorithmName: String { header["alg"]?.stringValue ?? "" }
    var type: String? { header["typ"]?.stringValue }
    var keyID: String? { header["kid"]?.stringValue }

    /// The valid token's algorithm; nil if JOSE does not know it.
    var algorithm: SignatureAlgorithm? { SignatureAlgorithm(name: algorithmName) }

    /// The first audience of the valid token.
    var audience: String? {
        claims["aud"]?.stringValue ?? claims["aud"]?.arrayValue?.first?.stringValue
    }
}
