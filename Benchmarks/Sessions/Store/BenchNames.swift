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
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
