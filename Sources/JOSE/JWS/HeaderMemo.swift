import Encodings
import Synchronization

/// Remembers the header that was read last: the tokens of one issuer begin with the same bytes.
///
/// For a verifier that reads many tokens of few issuers; give the same memo to each ``UnverifiedToken`` it reads.
/// Nothing is decided here: the result depends on the bytes and the limits alone, and both are compared. Safe from any
/// thread; a caller that finds it in use reads the header itself instead of waiting.
public final class HeaderMemo: Sendable {
    private struct Entry: Sendable {
        let segment: [UInt8]
        let limits: JSONLimits
        let header: ProtectedHeader
    }

    /// Longer headers than this are rare and not kept.
    private static let maximumBytes = 512

    private let last = Mutex<Entry?>(nil)

    /// A memo that remembers nothing yet.
    public init() {}

    /// The header that a base64url segment spells.
    func header(
        of segment: UnsafeBufferPointer<UInt8>, _ limits: TokenLimits
    ) throws(TokenRefusal) -> ProtectedHeader {
        let known: ProtectedHeader?? = last.withLockIfAvailable { entry in
            guard let entry, entry.limits == limits.json else { return nil }
            return entry.segment.withUnsafeBufferPointer { $0.hasSameBytes(as: segment) } ? entry.header : nil
        }
        if case .some(.some(let header)) = known { return header }

        let header = try ProtectedHeader(segment: segment, limits)
        if segment.count <= Self.maximumBytes {
            let entry = Entry(segment: Array(segment), limits: limits.json, header: header)
            _ = last.withLockIfAvailable { $0 = entry }
        }
        return header
    }
}

extension ProtectedHeader {
    /// Reads the header that a base64url segment spells.
    init(segment: UnsafeBufferPointer<UInt8>, _ limits: TokenLimits) throws(TokenRefusal) {
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
        try self.init(index.object)
    }
}
