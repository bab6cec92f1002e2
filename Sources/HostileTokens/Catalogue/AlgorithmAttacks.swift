import Encodings
import JOSE

/// J04: the right key under another algorithm. A verifier must bind each key to one algorithm (RFC 8725 section 3.1).
enum AlgorithmAttacks {
    static let all: [Attack] = siblings + [lowercase, space, escaped] + mislabelled

    private static let families: [[SignatureAlgorithm]] = [
        [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512], [.ed25519, .eddsa],
    ]

    /// Signatures of another algorithm that the same key can be used with.
    private static let siblings: [Attack] = families.flatMap { family in
        family.map { other in
            attack(
                "as-\(other.rawValue.lowercased())", "the trusted key under \(other.rawValue)", .tokenRefused
            ) { material in
                let own = try material.trusted().algorithm
                guard own != other, family.contains(own) else { return nil }
                let header = try material.signedHeader([("alg", RawJSON.quoted(other.rawValue))])
                return try material.signed(header: Array(header.utf8), as: other)
            }
        }
    }

    /// The right signature under the name of an algorithm that does not fit the key.
    private static let mislabelled: [Attack] = [
        SignatureAlgorithm.es256, .es384, .es512, .es256k, .rs256, .ed448, .ed25519, .hs256,
    ].map { other in
        attack("named-\(other.rawValue.lowercased())", "the right signature called \(other.rawValue)", .tokenRefused) {
            guard try $0.trusted().algorithm != other else { return nil }
            return try $0.signed(headerChanges: [("alg", RawJSON.quoted(other.rawValue))])
        }
    }

    /// Names of algorithms are case-sensitive (RFC 7515 section 4.1.1), and so are compared byte by byte.
    private static let lowercase = attack("lowercase", "the right alg in lower case", .tokenRefused) {
        let name = try $0.trusted().algorithm.rawValue
        return try $0.signed(headerChanges: [("alg", RawJSON.quoted(name.lowercased()))])
    }

    private static let space = attack("space", "the right alg with a space after it", .tokenRefused) {
        let name = try $0.trusted().algorithm.rawValue
        return try $0.signed(headerChanges: [("alg", RawJSON.quoted(name + " "))])
    }

    /// An escape is another spelling of the same JSON string (RFC 8259 section 8.3), so the token must be accepted.
    private static let escaped = attack("escaped", "the right alg, its first letter as a JSON escape", .accepted) {
        let name = try $0.trusted().algorithm.rawValue
        return try $0.signed(headerChanges: [("alg", "\"" + RawJSON.escapedFirst(name) + "\"")])
    }

    /// A token of the trusted signer whose `alg` or signature is of another algorithm.
    ///
    /// - Parameter token: makes it; nil if the trusted key does not fit the attack.
    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation,
        _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(
            id: "J04-\(name)", title: title, reference: "RFC 8725 §3.1, RFC 7515 §4.1.1", category: .algorithm,
            mode: .signed, expectation: expectation
        ) { try token($0).map(Payload.token) }
    }
}
