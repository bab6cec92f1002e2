/// J18: critical extensions that the target does not support (RFC 7515 section 4.1.11).
enum CriticalAttacks {
    /// Under a valid signature: only a look at `crit` can refuse them. Names that are no extensions, an empty list and
    /// other types than a list of names are malformed. `b64` (RFC 7797) without `crit` is a policy: an implementation
    /// that does not know it ignores it rightly.
    static let all: [Attack] = [
        attack("unknown", "crit names an extension that is there", [("crit", #"["x"]"#), ("x", "1")]),
        attack("absent", "crit names an extension that is not there", [("crit", #"["x"]"#)]),
        attack("exp", "crit names exp", [("crit", #"["exp"]"#), ("exp", "9999999999")]),
        attack("registered", "crit names a registered member", [("crit", #"["alg"]"#)]),
        attack("empty", "crit is empty", [("crit", "[]")]), attack("string", "crit is a string", [("crit", #""b64""#)]),
        attack("null", "crit is null", [("crit", "null")]), attack("number", "crit is a number", [("crit", "1")]),
        attack("twice", "crit names one extension twice", [("crit", #"["x","x"]"#), ("x", "1")]),
        attack("b64-true", "crit names b64, which is true", [("crit", #"["b64"]"#), ("b64", "true")]),
        attack("b64-false", "crit names b64, which is false", [("crit", #"["b64"]"#), ("b64", "false")]),
        attack("b64-false-alone", "b64 is false without crit", [("b64", "false")]),
        Attack(
            id: "J18-crit-b64-unencoded", title: "b64 false with a payload that is not encoded",
            reference: reference, category: .critical, mode: .signed
        ) { material in
            let header = try material.signedHeader([("crit", #"["b64"]"#), ("b64", "false")])
            // A dot in the unencoded payload would make a fourth segment, so it is escaped in the JSON strings.
            let claims = material.freshClaims().replacing(".", with: #"\u002e"#)
            return .token(try material.signed(headerText: Bytes.base64URL(header), payloadText: Array(claims.utf8)))
        },
    ]

    /// A recipient that does not understand an extension in `crit` must refuse the token (RFC 7515 section 4.1.11).
    private static let reference = "RFC 7515 §4.1.11, RFC 7797 §7, CVE-2026-32597"

    /// - Parameter changes: header members to set, each as raw JSON; nil removes one.
    private static func attack(_ name: String, _ title: String, _ changes: [(name: String, raw: String?)]) -> Attack {
        Attack(id: "J18-crit-\(name)", title: title, reference: reference, category: .critical, mode: .signed) {
            .token(try $0.signed(headerChanges: changes))
        }
    }
}
