import Answers
import HTTPTypes

/// Which paths exist and which methods each allows. Decides between 404 and 405 before a request is routed. Immutable
/// once made.
struct APIPathTable: Sendable {
    private struct Entry: Sendable {
        let segments: [ArraySlice<UInt8>]
        var methods: [HTTPRequest.Method]

        func matches(_ path: [ArraySlice<UInt8>]) -> Bool {
            path.count == segments.count
                && zip(segments, path).allSatisfy { pattern, segment in
                    pattern.first == UInt8(ascii: "{") ? !segment.isEmpty : segment.elementsEqual(pattern)
                }
        }
    }

    /// Paths without a segment in braces are matched first, so that `create` is never taken for an id.
    private var literals: [[UInt8]: [HTTPRequest.Method]] = [:]
    private var patterns: [Entry] = []

    /// Routes with the same path become one entry with the methods of all of them.
    init(_ routes: [APIRoute]) {
        for route in routes {
            let path = Array(route.path.utf8)
            guard path.contains(UInt8(ascii: "{")) else {
                literals[path, default: []].append(route.method)
                continue
            }
            let segments = Self.split(path)
            if let place = patterns.firstIndex(where: { $0.segments == segments }) {
                patterns[place].methods.append(route.method)
            } else {
                patterns.append(Entry(segments: segments, methods: [route.method]))
            }
        }
    }

    /// The refusal of a method on a path; nil when there is a route for it. 404 for an unknown path, 405 with `Allow`
    /// for another method (RFC 9110 section 15.5.6). HEAD is allowed where GET is.
    func refusal(of method: HTTPRequest.Method, path: String) -> Problem? {
        guard let methods = methods(of: Array(path.utf8)) else { return Problem(.notFound) }
        if methods.contains(method) || (method == .head && methods.contains(.get)) { return nil }
        let allowed = methods.contains(.get) ? methods + [.head] : methods
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            .methodNotAllowed, detail: "Allowed here: \(names).", headers: [(name: "Allow", value: names)])
    }

    private func methods(of path: [UInt8]) -> [HTTPRequest.Method]? {
        if let methods = literals[path] { return methods }
        let segments = Self.split(path)
        return patterns.first { $0.matches(segments) }?.methods
    }

    private static func split(_ path: [UInt8]) -> [ArraySlice<UInt8>] {
        path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }
}
