import Encodings
import Libcrypto

/// The id of a JSON-RPC request: a string, or an integer (Model Context Protocol, "Requests").
package enum RPCID: Sendable, Equatable {
    case number(Int64)
    case string(String)

    /// The longest string in bytes.
    package static let maximumBytes = 256

    /// Reads an id; nil for anything else, `null` among it.
    init?(_ value: JSONValue?) {
        switch value {
        case .number(let number)?:
            guard let number = number.int64 else { return nil }
            self = .number(number)
        case .string(let text)?:
            guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
            self = .string(text)
        default: return nil
        }
    }

    /// The id as it is answered.
    package var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .string(let text): .string(text)
        }
    }

    /// The id in the characters of base64url, one text for each id.
    package var token: String {
        switch self {
        case .number(let number): "n\(number)"
        case .string(let text): "s" + Base64URL.encode(Array(text.utf8))
        }
    }

    /// Reads what ``token`` has written.
    package init?(token: some StringProtocol) {
        let rest = String(token.dropFirst())
        switch token.first {
        case "n":
            guard let number = Int64(rest), String(number).hasSameBytes(as: rest) else { return nil }
            self = .number(number)
        case "s":
            guard let bytes = Base64URL.decode(rest), (1...Self.maximumBytes).contains(bytes.count),
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            self = .string(text)
        default: return nil
        }
    }

    /// The id of the intent that the request is in its session: requests with the same id are the same intent.
    package var intentID: String {
        "mcp-" + (token.utf8.count <= 44 ? token : "d" + Base64URL.encode(Digest.sha256(Array(token.utf8))))
    }
}
