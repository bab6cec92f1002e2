import Encodings

/// Reads the members of a JSON Web Key with their types checked. Errors name members and never quote a value.
struct JWKMembers {
    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    func has(_ name: String) -> Bool {
        object[name] != nil
    }

    func optionalText(_ name: String) throws(JOSEError) -> String? {
        guard let value = object[name] else { return nil }
        guard case .string(let text) = value else { throw JOSEError(.keyUnreadable, "\(name) is not a string") }
        return text
    }

    func text(_ name: String) throws(JOSEError) -> String {
        guard let text = try optionalText(name) else { throw JOSEError(.keyUnreadable, "\(name) is missing") }
        return text
    }

    func optionalTexts(_ name: String) throws(JOSEError) -> [String]? {
        guard let value = object[name] else { return nil }
        guard case .array(let values) = value else { throw JOSEError(.keyUnreadable, "\(name) is not an array") }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else {
                throw JOSEError(.keyUnreadable, "\(name) holds something that is no string")
            }
            texts.append(text)
        }
        return texts
    }

    func bytes(_ name: String) throws(JOSEError) -> [UInt8] {
        guard let bytes = Base64URL.decode(try text(name)) else {
            throw JOSEError(.keyUnreadable, "\(name) is not base64url")
        }
        return bytes
    }

    /// A Base64urlUInt (RFC 7518 section 2): big endian, at least one byte, without leading zeros.
    func number(_ name: String) throws(JOSEError) -> [UInt8] {
        let bytes = try bytes(name)
        guard let first = bytes.first else { throw JOSEError(.keyUnreadable, "\(name) is empty") }
        guard first != 0 || bytes.count == 1 else {
            throw JOSEError(.keyUnreadable, "\(name) has a leading zero byte")
        }
        return bytes
    }
}
