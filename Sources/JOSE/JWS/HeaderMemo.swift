import Encodings
import Synchronization

/// Remembers the header read last: the tokens of one issuer begin with the same bytes.
///
/// Nothing is decided here. The result depends on the bytes and the limits alone, and both are compared.
enum HeaderMemo {
    private struct Entry: Sendable {
        let segment: [UInt8]
        let limits: JSONLimits
        let header: ProtectedHeader
    }

    /// Longer headers than this are rare and not kept.
    private static let maximumBytes = 512

    private static let last = Mutex<Entry?>(nil)

    /// The header that a base64url segment spells.
    static func header(
        of segment: UnsafeBufferPointer<UInt8>, _ limits: TokenLimits
    ) throws(TokenRefusal) -> ProtectedHeader {
        // Whoever finds the memo in use reads the header himself rather than wait.
        let known: ProtectedHeader?? = last.withLockIfAvailable { entry in
            guard let entry, entry.limits == limits.json else { return nil }
            return entry.segment.withUnsafeBufferPointer { $0.hasSameBytes(as: segment) } ? entry.header : nil
        }
        if case .some(.some(let header)) = known { return header }

        guard let bytes = Base64URL.decode(buffer: segment) else {
            throw TokenRefusal(.malformed, "the header is not base64url")
        }
        // Nothing is built of a header before all of it has been read: most that are not known are not good either.
        let index: JSONIndex
        do throws(JSONError) {
            index = try JSONIndex(reading: bytes, upTo: bytes.count, limits: limits.json)
        } catch {
            throw TokenRefusal("header", error)
        }
        let header = try ProtectedHeader(index.object)
        if segment.count <= maximumBytes {
            let entry = Entry(segment: Array(segment), limits: limits.json, header: header)
            _ = last.withLockIfAvailable { $0 = entry }
        }
        return header
    }
}
