/// Which paths the gateway answers itself: those that the API declares, the decision endpoint's and the Runtime's.
///
/// Each path is reserved with its whole family, so that a route can never forward a path next to an endpoint: below
/// `/api` and `/.well-known` the family is the next segment (`/api/session/{id}` reserves `/api/session` and all below
/// it), elsewhere the first segment (`/oauth2/token` reserves `/oauth2`).
package struct OwnPaths: Sendable {
    private let families: [[UInt8]]
    /// For each byte, whether a family begins with it after the slash. Most traffic is not for the gateway itself, and
    /// this one check tells.
    private let begins: [Bool]

    private static let verify = "/api/auth/verify"
    private static let runtime = "/api/runtime"

    /// - Parameter declared: the paths of the API's endpoints; a segment in braces stands for any segment.
    package init(api declared: [String]) {
        var families: [[UInt8]] = []
        for path in declared {
            let family = Self.family(of: Array(path.utf8))
            if !families.contains(family) { families.append(family) }
        }
        var begins = Array(repeating: false, count: 256)
        for family in families + [Array(Self.verify.utf8), Array(Self.runtime.utf8)] where family.count > 1 {
            begins[Int(family[1])] = true
        }
        self.families = families
        self.begins = begins
    }

    /// Which of the gateway's own endpoints a path asks for; nil for one that is left to routes.
    package func find(_ path: [UInt8]) -> OwnPath? {
        guard path.count > 4, begins[Int(path[1])] else { return nil }
        if let appended = Self.rest(of: path, below: Self.verify) { return .verify(appended: Array(appended)) }
        if path.elementsEqual("/api/runtime/agent".utf8) { return .agent }
        if path.elementsEqual("/api/runtime/echo".utf8) { return .echo }
        if Self.rest(of: path, below: Self.runtime) != nil { return .runtime }
        if let rest = Self.rest(of: path, below: "/api/sessions") {
            return .api("/api/session" + String(decoding: rest, as: UTF8.self))
        }
        guard families.contains(where: { Self.rest(of: path, below: $0) != nil }) else { return nil }
        return .api(String(decoding: path, as: UTF8.self))
    }

    private static func family(of path: [UInt8]) -> [UInt8] {
        let segments = path.split(separator: UInt8(ascii: "/"))
        let isShared =
            segments.first.map { $0.elementsEqual("api".utf8) || $0.elementsEqual(".well-known".utf8) } ?? false
        return segments.prefix(isShared ? 2 : 1).flatMap { [UInt8(ascii: "/")] + $0 }
    }

    /// What follows the prefix in a path that equals it or lies below it; nil for any other path.
    private static func rest(of path: [UInt8], below prefix: String) -> ArraySlice<UInt8>? {
        guard path.starts(with: prefix.utf8) else { return nil }
        let rest = path.dropFirst(prefix.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? rest : nil
    }

    private static func rest(of path: [UInt8], below prefix: [UInt8]) -> ArraySlice<UInt8>? {
        guard path.starts(with: prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? rest : nil
    }
}
