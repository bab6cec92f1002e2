import Encodings

/// The entries of a list, page after page, for a caller that wants all of them.
package struct AdminLines: Sendable {
    /// The entries of one page, and where the next one begins.
    typealias Read = @Sendable (_ after: String?, _ limit: Int) async throws -> AdminPage
    /// How many entries are read at once.
    static let size = 500

    let first: AdminPage
    let read: Read

    /// Calls `write` with the lines of each page; each page is read when the one before has been written.
    ///
    /// - Throws: what reading or `write` throws.
    package func write(_ write: ([UInt8]) async throws -> Void) async throws {
        var page = first
        while true {
            var bytes: [UInt8] = []
            for entry in page.entries {
                bytes += JSONValue.object(entry).serializedBytes()
                bytes.append(UInt8(ascii: "\n"))
            }
            if !bytes.isEmpty { try await write(bytes) }
            guard let next = page.next else { return }
            page = try await read(next, Self.size)
        }
    }
}

/// One page of a list.
struct AdminPage: Sendable {
    var entries: [JSONObject]
    /// The cursor of the next page; nil after the last one.
    var next: String?
}
