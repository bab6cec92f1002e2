import HTTPWire
import SecurityGuard

/// What the gateway tells an upstream about the caller.
package struct ForwardedIdentity {
    /// The caller's user; nil for a caller without one.
    package var user: String?
    /// The caller's tenant.
    package var tenant: String?
    /// The token's scopes, separated by spaces.
    package var scope: String?
    /// The verified e-mail of the caller's account.
    package var email: String?
    /// The name of the caller's account.
    package var name: String?
    /// The groups of the caller's account; without any, no field is sent.
    package var groups: [String] = []
    /// The caller's session. Only the Runtime is told.
    package var session: String?
    /// The client that the token was issued to. Only the upstreams of resources are told.
    package var client: String?
    /// A signed statement (a JWT) of the above.
    package var assertion: String?

    /// An identity that says nothing yet but the session.
    package init(session: String? = nil) { self.session = session }

    /// The identity of an unknown caller: no field at all.
    package static let none = ForwardedIdentity()

    /// The fields, as name and header-safe value.
    package func fields() -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let user { fields.append(("X-Gatehouse-User", Self.safe(user))) }
        if let tenant { fields.append(("X-Gatehouse-Tenant", Self.safe(tenant))) }
        if let scope { fields.append(("X-Gatehouse-Scope", Self.safe(scope))) }
        if let email { fields.append(("X-Gatehouse-Email", Self.encoded(email))) }
        if let name { fields.append(("X-Gatehouse-Name", Self.encoded(name))) }
        if !groups.isEmpty {
            let list = groups.map { Self.encoded($0, besides: UInt8(ascii: ",")) }.joined(separator: ",")
            fields.append(("X-Gatehouse-Groups", list))
        }
        if let session { fields.append(("X-Gatehouse-Session", Self.safe(session))) }
        if let client { fields.append(("X-Gatehouse-Client", Self.safe(client))) }
        if let assertion { fields.append(("X-Gatehouse-Assertion", assertion)) }
        return fields
    }

    /// The fields as they are written in a head.
    package func written() -> FieldLines {
        var lines = FieldLines()
        for field in fields() { lines.add(field.name, field.value) }
        return lines
    }

    /// The text as a query value: every byte except unreserved characters and slashes is percent-encoded.
    package static func queryValue(_ value: String) -> String {
        percentEncoded(value) { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "-._~/".utf8.contains(byte)
            }
        }
    }

    /// The text as a field value: every byte except visible ASCII and inner spaces is percent-encoded, so that a claim
    /// can never end a line.
    static func safe(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }
        if isPlain, value.utf8.first != 0x20, value.utf8.last != 0x20 { return value }
        return percentEncoded(value) { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }
    }

    /// The text of an account as a field value: every byte outside printable ASCII and `%` is percent-encoded, and so are
    /// spaces at its ends, which would not arrive, and the separator of a list. Decoding gives the text back.
    static func encoded(_ value: String, besides separator: UInt8? = nil) -> String {
        let last = value.utf8.count - 1
        var out: [UInt8] = []
        out.reserveCapacity(value.utf8.count)
        for (index, byte) in value.utf8.enumerated() {
            let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "%") && byte != separator
            append(byte, isKept: isPlain && (byte != 0x20 || (index != 0 && index != last)), to: &out)
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func append(_ byte: UInt8, isKept: Bool, to out: inout [UInt8]) {
        guard !isKept else { return out.append(byte) }
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static func percentEncoded(_ value: String, keeping isKept: (UInt8) -> Bool) -> String {
        var out: [UInt8] = []
        for byte in value.utf8 { append(byte, isKept: isKept(byte), to: &out) }
        return String(decoding: out, as: UTF8.self)
    }
}
