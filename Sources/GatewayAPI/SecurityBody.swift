import Answers
import Encodings

/// The JSON object in a request's body, read strictly: no unknown or repeated members, no wrong types. Strict, so that
/// a misspelt member is refused and not ignored. Member names are compared by bytes.
package struct SecurityBody: Sendable {
    /// The members, all of which are known by name.
    let members: JSONObject

    /// A body without members.
    static let empty = SecurityBody(members: JSONObject())

    private init(members: JSONObject) { self.members = members }

    /// Parses a body and judges each of its members. An empty one counts as `{}`.
    ///
    /// - Parameter known: the members that the endpoint knows, in the order in which they are judged; empty for an
    ///   endpoint without members.
    /// - Throws: `invalid_request` for what is no JSON object or too large or deep, `unknown_member` for another name;
    ///   `invalid_request` or `credentials_swapped` for the value of a member.
    init(_ bytes: [UInt8], knowing known: [BodyMember]) throws(Problem) {
        members = try Self.parse(bytes)
        for name in members.names where !known.contains(where: { $0.name.hasSameBytes(as: name) }) {
            throw Self.unknown(name)
        }
        for member in known { try judge(member) }
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONObject {
        guard !bytes.isEmpty else { return JSONObject() }
        do {
            return try StrictJSON.object(bytes)
        } catch {
            throw Problem(.invalidRequest, detail: explain(error), reason: "body_\(error.code.rawValue)")
        }
    }

    private func judge(_ member: BodyMember) throws(Problem) {
        switch member.form {
        case .anything: break
        case .string: _ = try string(member.name)
        case .requiredString: _ = try required(member.name)
        case .credential(let shape):
            guard let value = try string(member.name) else { return }
            try shape.require(value)
        case .bool: _ = try bool(member.name)
        case .object: _ = try object(member.name)
        case .delivery: _ = try wantsBodyDelivery()
        case .requiredStrings: _ = try requiredStrings(member.name)
        case .requiredInteger: _ = try requiredInteger(member.name)
        }
    }

    /// A string member; nil when it is absent.
    ///
    /// - Throws: `invalid_request` for another type, `null` included.
    package func string(_ name: String) throws(Problem) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue else { throw Self.wrongType(name, "a string") }
        return text
    }

    /// A string member that is required.
    package func required(_ name: String) throws(Problem) -> String {
        guard let text = try string(name) else {
            throw Problem(.invalidRequest, detail: "'\(name)' is needed.", reason: "member_missing")
        }
        return text
    }

    /// A list of strings that is required. It may be empty.
    func requiredStrings(_ name: String) throws(Problem) -> [String] {
        guard let list = members[name]?.arrayValue else { throw Self.wrongType(name, "a list of strings") }
        var strings: [String] = []
        for value in list {
            guard let text = value.stringValue else { throw Self.wrongType(name, "a list of strings") }
            strings.append(text)
        }
        return strings
    }

    /// An integer that is required. It must fit into 64 bits; `1.5` is refused.
    func requiredInteger(_ name: String) throws(Problem) -> Int64 {
        guard let number = members[name]?.int64Value else { throw Self.wrongType(name, "a whole number") }
        return number
    }

    /// A Boolean member; nil when it is absent.
    package func bool(_ name: String) throws(Problem) -> Bool? {
        guard let value = members[name] else { return nil }
        guard let truth = value.boolValue else { throw Self.wrongType(name, "true or false") }
        return truth
    }

    /// An object member as JSON text; nil when it is absent.
    func objectText(_ name: String) throws(Problem) -> String? { try object(name)?.serialized() }

    private func object(_ name: String) throws(Problem) -> JSONValue? {
        guard let value = members[name] else { return nil }
        guard value.objectValue != nil else { throw Self.wrongType(name, "an object") }
        return value
    }

    /// Whether secrets are asked for in the body (`"deliver":"body"`).
    ///
    /// - Throws: `invalid_request` for any other value.
    func wantsBodyDelivery() throws(Problem) -> Bool {
        guard let deliver = try string("deliver") else { return false }
        guard deliver.hasSameBytes(as: "body") else {
            throw Problem(.invalidRequest, detail: "'deliver' can only be \"body\".", reason: "deliver_unknown")
        }
        return true
    }

    private static func wrongType(_ name: String, _ expected: String) -> Problem {
        Problem(.invalidRequest, detail: "'\(name)' must be \(expected).", reason: "member_type")
    }

    /// The refusal of an unknown member. It names the member only where the name is an ordinary word: otherwise it
    /// could be a secret.
    private static func unknown(_ name: String) -> Problem {
        let isPlain = !name.isEmpty && name.utf8.count <= 40 && name.utf8.allSatisfy(isWordByte)
        guard isPlain, CredentialShape(name.utf8) == .other else { return Problem(.unknownMember) }
        return Problem(.unknownMember, detail: "This endpoint does not know the member '\(name)'.")
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Names the place of a syntax error by its byte, and never what stands there.
    private static func explain(_ error: JSONError) -> String {
        switch error.code {
        case .notAnObject: "The body must be one JSON object."
        case .duplicateName: "The body has a member twice."
        case .tooLarge, .tooDeep, .tooManyMembers, .stringTooLong: "The body is too large or nested too deep."
        default: "The body is no valid JSON (byte \(error.offset))."
        }
    }
}
