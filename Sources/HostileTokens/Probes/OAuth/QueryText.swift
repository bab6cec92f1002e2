/// Parameters in URLs and forms.
enum QueryText {
    /// The parameters in the form `name=value&name=value`, with the values percent-encoded.
    static func form(_ parameters: [(String, String)]) -> String {
        parameters.map { "\($0.0)=\(encoded($0.1))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: PercentEncoding.encode(Array(text.utf8)), as: UTF8.self)
    }

    /// The value of the first parameter of this name, decoded; nil if there is none or it is empty.
    static func value(_ name: String, inURL url: String) -> String? {
        guard let mark = url.firstIndex(of: "?") else { return nil }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        for pair in query.split(separator: "&") where pair.hasPrefix(name + "=") {
            let value = pair.dropFirst(name.count + 1)
            // In a query a plus is a blank (application/x-www-form-urlencoded, RFC 6749 appendix B).
            let bytes = PercentEncoding.decode(value.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
            return value.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
        return nil
    }

    /// The path and query of an absolute URL.
    static func path(ofURL url: String) -> String {
        guard let start = url.firstRange(of: "://") else { return url }
        let path = url[start.upperBound...].drop { $0 != "/" }
        return path.isEmpty ? "/" : String(path)
    }
}
