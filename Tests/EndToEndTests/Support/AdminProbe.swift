import Foundation

/// Requests to the operator's API, over TCP or a Unix socket.
struct AdminProbe: Sendable {
    var port: Int?
    var path: String?
    var token: String?

    /// One request on a connection of its own. A body is JSON where the headers do not say otherwise.
    func request(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil
    ) throws -> RawResponse {
        let socket = try path.map { try RawSocket(unixPath: $0) } ?? RawSocket(port: port ?? 0)
        var text = "\(method) \(target) HTTP/1.1\r\nHost: \(port.map { "127.0.0.1:\($0)" } ?? "localhost")\r\n"
        if let token { text += "Authorization: Bearer \(token)\r\n" }
        for field in headers { text += "\(field.0): \(field.1)\r\n" }
        if let body {
            text += "Content-Length: \(body.utf8.count)\r\n"
            if !headers.contains(where: { $0.0 == "Content-Type" }) { text += "Content-Type: application/json\r\n" }
        }
        try socket.send(text + "\r\n" + (body ?? ""))
        return try socket.response(toHead: method == "HEAD")
    }

    func get(_ target: String) throws -> [String: Any] { try request("GET", "/api/admin/\(target)").json }

    /// The entries of a list, page after page.
    func all(_ name: String, limit: Int, query: String = "") throws -> [[String: Any]] {
        var (entries, after): ([[String: Any]], String?) = ([], nil)
        repeat {
            let page = try get("\(name)?limit=\(limit)\(query)" + (after.map { "&after=\($0)" } ?? ""))
            guard let found = page[name] as? [[String: Any]], found.count <= limit else {
                throw GatewayFailure(description: "\(name): \(page)")
            }
            entries += found
            after = page["next"] as? String
        } while after != nil
        return entries
    }
}

extension TestUser {
    /// A user whose tokens open the operator's API.
    static let operations = TestUser(
        email: "ops@example.com", password: "steady hands", tenant: "acme", scopes: ["gatehouse:admin"])
}

extension GatewayInProcess {
    /// A gateway with an admin listener, and a probe with a token for it.
    static func startWithAdmin(_ configuration: String = "") async throws -> (GatewayInProcess, AdminProbe) {
        let gateway = try await start(
            configuration, users: TestUser.standard + [.operations],
            environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"])
        return (gateway, AdminProbe(port: gateway.adminPort, token: try gateway.login(.operations).token))
    }
}
