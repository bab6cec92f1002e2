import Answers

/// One method of one path of the operator's API.
package struct AdminRoute: Sendable {
    typealias Handler = @Sendable (AdminCall) async throws -> AdminAnswer

    /// The method.
    package let method: String
    /// The path. `{id}` stands for any segment.
    package let path: String
    /// The parameters that its query may have.
    package let parameters: [String]
    let handler: Handler

    init(_ method: String, _ path: String, _ parameters: [String] = [], _ handler: @escaping Handler) {
        self.method = method
        self.path = "/api/admin/" + path
        self.parameters = parameters
        self.handler = handler
    }

    /// All of them.
    package static let all: [AdminRoute] =
        OverviewRoutes.all + SessionListRoutes.all + ConnectionRoutes.all + RefusalRoutes.all + KeyRoutes.all
        + GrantListRoutes.all + ProcessRoutes.all

    /// The `{id}` of a path that this route's path covers: empty where it has none; nil for another path.
    func id(in path: String) -> String? {
        let mine = self.path.split(separator: "/", omittingEmptySubsequences: false)
        let theirs = path.split(separator: "/", omittingEmptySubsequences: false)
        guard mine.count == theirs.count else { return nil }
        var id = ""
        for (pattern, segment) in zip(mine, theirs) {
            if pattern == "{id}" {
                guard !segment.isEmpty, let text = AdminQuery.decoded(segment) else { return nil }
                id = text
            } else if !pattern.utf8.elementsEqual(segment.utf8) {
                return nil
            }
        }
        return id
    }

    /// The route for a method and path, with the `{id}` of the path.
    /// - Throws: `not_found`, `method_not_allowed`.
    static func find(_ method: String, _ path: String) throws(Problem) -> (route: AdminRoute, id: String) {
        let matches = all.compactMap { route in route.id(in: path).map { (route: route, id: $0) } }
        guard !matches.isEmpty else { throw Problem(.notFound) }
        if let match = matches.first(where: { $0.route.method == method }) { return match }
        let methods = matches.map(\.route.method).flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }
        throw Problem(.methodNotAllowed, headers: [("Allow", methods.joined(separator: ", "))])
    }
}
