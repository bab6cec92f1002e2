import Encodings
import Libcrypto

/// The form of a key file, recognised by its content.
enum KeyForm {
    case json(JSONObject)
    case der
    case pem
    case unknown(String)

    /// The limits of a key or key set in JSON.
    static let limits = JSONLimits(maxBytes: 256 * 1024, maxMembers: 256, maxValues: 10_000)

    init(of bytes: [UInt8]) {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "{") {
            do throws(JSONError) {
                self = .json(try StrictJSON.object(bytes, limits: Self.limits))
            } catch {
                self = .unknown("not readable as JSON: \(error)")
            }
        } else if bytes.first == 0x30 {
            self = .der
        } else if bytes.count <= KeyDecoder.maximumBytes, Self.hasBoundaryLine(bytes) {
            self = .pem
        } else {
            self = .unknown("neither PEM, DER, JWK nor JWKS")
        }
    }

    private static func hasBoundaryLine(_ bytes: [UInt8]) -> Bool {
        let boundary = Array("-----BEGIN ".utf8)
        guard bytes.count >= boundary.count else { return false }
        return (0...(bytes.count - boundary.count)).contains { bytes[$0...].starts(with: boundary) }
    }
}
