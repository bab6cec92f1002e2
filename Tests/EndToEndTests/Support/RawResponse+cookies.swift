import Foundation

extension RawResponse {
    /// `Set-Cookie` by cookie name.
    var cookies: [String: String] {
        Dictionary(
            all("set-cookie").map { ($0.components(separatedBy: "=")[0], $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The value that a cookie is set to; nil when it is not set.
    func cookieValue(_ name: String) -> String? {
        cookies[name].map { $0.dropFirst(name.count + 1).prefix { $0 != ";" } }.map(String.init)
    }

    /// The whole answer but what may differ from one request to the next: date and request id.
    var comparable: String {
        let id = json["request_id"] as? String ?? self["x-request-id"] ?? "-"
        let head = fields.filter { $0.name.lowercased() != "date" }.map { "\($0.name): \($0.value)" }
        return "\(status)\n\(head.joined(separator: "\n"))\n\n\(text)".replacingOccurrences(of: id, with: "ID")
    }
}
