import Foundation

/// Ids that are computed from a number, for any number.
enum BenchNames {
    static func session(_ number: Int) -> String {
        let bytes = (0..<16).map { place in
            UInt8(truncatingIfNeeded: number >> (place * 8 % 64)) ^ UInt8(truncatingIfNeeded: place &* 37)
        }
        return "ses_" + base64URL(bytes)
    }

    static func user(_ number: Int) -> String { "usr_" + session(number).dropFirst(4) }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        let characters = Data(bytes).base64EncodedString().utf8.compactMap { character -> UInt8? in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: character
            }
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
