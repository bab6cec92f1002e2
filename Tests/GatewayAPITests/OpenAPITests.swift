import Answers
import Foundation
import HTTPTypes
import Testing
import Web
import Yams

@testable import GatewayAPI

/// `/openapi.yaml` describes the endpoints that there are, and no others.
@Suite("The OpenAPI document is held to the real routes")
struct OpenAPITests {
    /// What the edge answers without the API: the decision endpoint, the sockets, and the document itself.
    private static let ofTheEdge: Set<String> = [
        "GET /api/auth/verify", "GET /api/runtime/agent", "GET /api/runtime/echo", "GET /openapi.yaml",
        // There is one for each resource of the configuration.
        "GET /.well-known/oauth-protected-resource", "GET /.well-known/oauth-protected-resource/{}",
    ]
    /// Words of the closed list that are told in an address (`login_error`) and never in a body.
    private static let inAddresses: Set<String> = ["login_refused"]

    private let document: [String: Any]
    private let paths: [String: [String: Any]]

    init() throws {
        let asset = try #require(WebAssets.asset(for: "/openapi.yaml"))
        document = try #require(try Yams.load(yaml: String(decoding: asset.bytes, as: UTF8.self)) as? [String: Any])
        paths = try #require(document["paths"] as? [String: [String: Any]])
    }

    /// `GET /api/session/{}`: the names of path parameters are the document's own, and are not compared.
    private static func name(_ method: String, _ path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return method.uppercased() + " " + segments.map { $0.hasPrefix("{") ? "{}" : $0 }.joined(separator: "/")
    }

    /// The operations of all paths, or of those that are marked `x-planned`.
    private func operations(planned: Bool) -> Set<String> {
        let methods: Set<String> = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        var found: Set<String> = []
        for (path, item) in paths where (item["x-planned"] as? Bool ?? false) == planned {
            for method in item.keys where methods.contains(method) { found.insert(Self.name(method, path)) }
        }
        return found
    }

    private var routes: Set<String> {
        Set(APIResponder.routes.map { Self.name($0.method.rawValue, $0.path) })
    }

    @Test("Every route is described")
    func complete() {
        let missing = routes.subtracting(operations(planned: false))
        #expect(missing.isEmpty, "not described, or marked x-planned although it is there: \(missing.sorted())")
    }

    @Test("What is described is there, unless it is marked as planned")
    func honest() {
        let invented = operations(planned: false).subtracting(routes).subtracting(Self.ofTheEdge)
        #expect(invented.isEmpty, "described, and not there: \(invented.sorted())")
        #expect(Self.ofTheEdge.isSubset(of: operations(planned: false)))
    }

    @Test("What is marked as planned is not there yet")
    func planned() {
        let done = operations(planned: true).intersection(routes)
        #expect(done.isEmpty, "there: take x-planned out at \(done.sorted())")
    }

    @Test("Every code of a refusal is in the document, and no other")
    func codes() throws {
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]]
        let code = (schemas?["Problem"]?["properties"] as? [String: [String: Any]])?["code"]
        let told = Set(try #require(code?["enum"] as? [String]))
        let real = Set(ProblemCode.allCases.map(\.rawValue))
        #expect(told == real.union(Self.inAddresses))
    }

    @Test("Every operation has a name of its own, a summary and a tag that is declared")
    func described() throws {
        var ids: Set<String> = []
        let tags = Set(try #require(document["tags"] as? [[String: Any]]).compactMap { $0["name"] as? String })
        for (path, item) in paths {
            for (method, value) in item {
                guard let operation = value as? [String: Any], operation["responses"] != nil else { continue }
                let id = try #require(operation["operationId"] as? String, "\(method) \(path)")
                #expect(ids.insert(id).inserted, "\(id) is there twice")
                #expect(operation["summary"] is String, "\(id)")
                #expect((operation["tags"] as? [String])?.allSatisfy(tags.contains) == true, "\(id)")
            }
        }
    }
}
