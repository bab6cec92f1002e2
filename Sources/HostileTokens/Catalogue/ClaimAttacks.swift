import Encodings

/// J25: the other claims that RFC 9068 requires, missing or of another type.
enum ClaimAttacks {
    /// Under a valid signature. They apply to access tokens that have the claim: a target whose tokens lack it
    /// promises nothing about it.
    static let all: [Attack] = ["sub", "client_id", "jti"].flatMap { claim in
        faults.map { fault in attack(claim, fault) }
    }

    /// Values that are not a non-empty string, which RFC 9068 section 2.2 asks for; nil leaves the claim out.
    private static let faults: [(name: String, raw: String?)] = [
        ("missing", nil), ("null", "null"), ("empty", #""""#), ("number", "1"), ("array", #"["x"]"#), ("object", "{}"),
    ]

    /// - Parameter fault: how it is called, and the raw JSON of the value; nil leaves the claim out.
    private static func attack(_ claim: String, _ fault: (name: String, raw: String?)) -> Attack {
        Attack(
            id: "J25-\(claim.replacing("_", with: "-"))-\(fault.name)", title: "\(claim) \(fault.raw ?? "left out")",
            reference: "RFC 9068 §2.2, RFC 8725 §3.8", category: .claims, mode: .signed
        ) { material in
            guard material.isAccessToken, material.claims[claim] != nil else { return nil }
            return .token(try material.signed(claimChanges: [(claim, fault.raw)]))
        }
    }
}
