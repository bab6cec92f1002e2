/// Field names that frame or route a message, and so mean nothing in trailers (RFC 9110 section 6.5.1).
public enum ForbiddenTrailer {
    /// The refused names, in lower case. Each has fewer than ``ChunkScanner``'s 18 stored bytes, so that names cut off
    /// there are never equal to one of them.
    static let names = [
        "content-length", "transfer-encoding", "host", "connection", "upgrade", "trailer", "te", "expect",
    ]

    /// What is wrong with trailers of these names, in lower case; nil for trailers that may be dropped.
    ///
    /// Trailers of HTTP/1.1 are judged by ``ChunkScanner``. This function is for those of HTTP/2, which come as a list.
    public static func fault(in names: some Sequence<String>) -> WireError? {
        for name in names where Self.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { return error }
        return nil
    }

    static let error = WireError(.trailer, "a framing field as a trailer")
}
