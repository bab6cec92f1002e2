import AdminAPI
import Testing
import Web
import Yams

/// `/openapi-admin.yaml` describes the routes that there are, and no others.
@Suite("The operator's OpenAPI document is held to the real routes")
struct AdminOpenAPITests {
    private let paths: [String: [String: Any]]

    init() throws {
        let asset = try #require(WebAssets.adminAsset(for: "/openapi-admin.yaml"))
        let text = String(decoding: asset.bytes, as: UTF8.self)
        let document = try #require(try Yams.load(yaml: text) as? [String: Any])
        paths = try #require(document["paths"] as? [String: [String: Any]])
    }

    @Test("Every route is described, and what is described is there")
    func complete() {
        var described: Set<String> = []
        for (path, item) in paths {
            for method in item.keys { described.insert("\(method.uppercased()) \(path)") }
        }
        #expect(described == Set(AdminRoute.all.map { "\($0.method) \($0.path)" }))
    }

    @Test(
        "The parameters of each list are described", arguments: AdminRoute.all.filter { $0.method == "GET" }.map(\.path)
    )
    func parameters(path: String) throws {
        let route = try #require(AdminRoute.all.first { $0.path == path && $0.method == "GET" })
        let operation = try #require(paths[path]?["get"] as? [String: Any])
        let described = (operation["parameters"] as? [[String: Any]] ?? []).compactMap { parameter in
            parameter["name"] as? String ?? (parameter["$ref"] as? String)?.split(separator: "/").last.map(String.init)
        }
        #expect(Set(described.filter { $0 != "id" }) == Set(route.parameters))
    }
}
