import Encodings

/// Reads what the answers of both ceremonies have in common.
enum ResponseReader {
    /// `id`, which `rawId` repeats, of a credential of type `public-key`.
    static func credentialID(_ object: JSONObject) throws(PasskeyRefusal) -> [UInt8] {
        guard object["type"] == "public-key" else { throw .responseMalformed }
        let id = try bytes("id", of: object, atMost: Passkey.maximumIDBytes)
        guard !id.isEmpty, try bytes("rawId", of: object, atMost: Passkey.maximumIDBytes) == id else {
            throw .credentialIDMismatch
        }
        return id
    }

    /// The member `response`.
    static func response(_ object: JSONObject) throws(PasskeyRefusal) -> JSONObject {
        guard let response = object["response"]?.objectValue else { throw .responseMalformed }
        return response
    }

    /// A member in base64url, of at most so many bytes.
    static func bytes(_ name: String, of object: JSONObject, atMost count: Int) throws(PasskeyRefusal) -> [UInt8] {
        guard let text = object[name]?.stringValue, text.utf8.count <= Base64URL.encodedCount(count),
            let bytes = Base64URL.decode(text)
        else { throw .responseMalformed }
        return bytes
    }
}
