import Encodings

/// Finds claims by the names that a configuration gives them.
struct ClaimReader: Sendable {
    let claims: JSONObject

    init(_ claims: JSONObject) { self.claims = claims }

    /// The claim of a name: of the whole name if there is one, else by descending at each dot.
    ///
    /// `https://example.com/groups` is one name though it has dots, and `realm_access.roles` are two.
    subscript(name: String) -> JSONValue? {
        if let whole = claims[name] { return whole }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...8).contains(parts.count) else { return nil }
        var value: JSONValue? = .object(claims)
        for part in parts { value = value?.objectValue?[String(part)] }
        return value
    }

    /// The texts of a claim: of a string one, of an array its strings; numbers and truths as JSON writes them.
    func texts(_ name: String) -> [String] {
        switch self[name] {
        case .array(let values)?: values.compactMap(Self.text)
        case let value?: Self.text(value).map { [$0] } ?? []
        case nil: []
        }
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): number.int64.map { String($0) } ?? number.text
        case .bool(let truth): truth ? "true" : "false"
        default: nil
        }
    }
}
