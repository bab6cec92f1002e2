import HTTPTypes
import Hummingbird

/// One method of one path, and who answers it.
struct APIRoute: Sendable {
    typealias Handler = @Sendable (APICall) async throws -> APIAnswer

    let method: HTTPRequest.Method
    /// `/api/session/{id}`: a segment in braces stands for any.
    let path: String
    let handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }
}

/// Which paths there are and what each allows: decides between 404 and 405 before anything is routed.
struct APIPathTable: Sendable {
    private struct Entry: Sendable {
        let segments: [[UInt8]]
        var methods: [HTTPRequest.Method]

        func matches(_ path: [ArraySlice<UInt8>]) -> Bool {
            path.count == segments.count
                && zip(segments, path).allSatisfy { pattern, segment in
                    pattern.first == UInt8(ascii: "{") ? !segment.isEmpty : segment.elementsEqual(pattern)
                }
        }
    }

    /// Literal paths before those with a segment in braces, so that `create` is never somebody's id.
    private var entries: [Entry] = []

    init(_ routes: [APIRoute]) {
        let ordered = routes.filter { !$0.path.contains("{") } + routes.filter { $0.path.contains("{") }
        for route in ordered {
            let segments = Self.split(route.path).map(Array.init)
            if let place = entries.firstIndex(where: { $0.segments == segments }) {
                entries[place].methods.append(route.method)
            } else {
                entries.append(Entry(segments: segments, methods: [route.method]))
            }
        }
    }

    /// The refusal of a method on a path, nil when a route is there.
    func refusal(of method: HTTPRequest.Method, path: String) -> Problem? {
        let segments = Self.split(path)
        guard let entry = entries.first(where: { $0.matches(segments) }) else { return Problem(.notFound) }
        let allowed = entry.methods.contains(.get) ? entry.methods + [.head] : entry.methods
        guard !allowed.contains(method) else { return nil }
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            .methodNotAllowed, detail: "Allowed here: \(names).", headers: [(name: "Allow", value: names)])
    }

    private static func split(_ path: String) -> [ArraySlice<UInt8>] {
        Array(path.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }
}
