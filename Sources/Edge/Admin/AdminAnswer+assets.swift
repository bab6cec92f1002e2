import AdminAPI
import Web

extension AdminAnswer {
    /// A plain text.
    ///
    /// - Parameter text: ends with a line break, for terminals.
    static func text(_ status: Int, _ text: String) -> AdminAnswer {
        AdminAnswer(
            status: status, fields: [("Content-Type", "text/plain; charset=utf-8")], body: .whole(Array(text.utf8)))
    }

    /// 405 with the methods that there are (RFC 9110 section 15.5.6).
    static func methodNotAllowed(_ methods: String) -> AdminAnswer {
        AdminAnswer(
            status: 405, fields: [("Content-Type", "text/plain; charset=utf-8"), ("Allow", methods)],
            body: .whole(Array("method not allowed\n".utf8)))
    }

    /// A file of the operator's pages; nil where there is none at this path.
    ///
    /// - Parameter path: as the request has it; compared whole.
    init?(asset path: String) {
        guard let asset = WebAssets.adminAsset(for: path) else { return nil }
        self.init(
            status: 200, fields: asset.headers + [("Content-Type", asset.contentType), ("ETag", asset.etag)],
            body: .whole(asset.bytes))
    }
}
