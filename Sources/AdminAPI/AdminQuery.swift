import Answers

/// The query of a request to the operator's API.
enum AdminQuery {
    private static let most = 16

    /// The parameters, decoded.
    /// - Throws: `invalid_request` for a parameter that is not among `known`, is given twice, or has a broken escape.
    static func read(_ text: String?, known: [String]) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        guard let text, !text.isEmpty else { return values }
        let pairs = text.split(separator: "&", maxSplits: most)
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pairs.count <= most, let name = parts.first.map(String.init), known.contains(name) else {
                let names = known.isEmpty ? "none" : known.joined(separator: ", ")
                throw Problem(.invalidRequest, detail: "Query parameters here: \(names).", reason: "query")
            }
            guard values[name] == nil, let value = decoded(parts.count == 2 ? parts[1] : "") else {
                throw Problem(.invalidRequest, detail: "'\(name)' is given twice or malformed.", reason: "query")
            }
            values[name] = value
        }
        return values
    }

    /// The text without its escapes; nil for a broken one, or for what is not UTF-8 or has control characters.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
