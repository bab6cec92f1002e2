import Answers
import EdgeConfiguration
import HTTPTypes
import Testing

@testable import EdgeCore
@testable import GatewayAPI

@Suite("Which paths there are, and what each allows")
struct APIPathTableTests {
    private static func route(_ method: HTTPRequest.Method, _ path: String) -> APIRoute {
        APIRoute(method, path, .open) { _, _ in .noContent }
    }

    private let table = APIPathTable([
        Self.route(.get, "/api/session/{id}"), Self.route(.delete, "/api/session/{id}"),
        Self.route(.post, "/api/session/create"), Self.route(.patch, "/api/session/{id}/upgrade"),
        Self.route(.get, "/api/session"),
    ])

    @Test(
        "What is there is let through, with or without a name in the path",
        arguments: [
            (.get, "/api/session/ses_a"), (.head, "/api/session/ses_a"), (.delete, "/api/session/ses_a"),
            (.post, "/api/session/create"), (.patch, "/api/session/ses_a/upgrade"), (.get, "/api/session"),
        ] as [(HTTPRequest.Method, String)])
    func there(method: HTTPRequest.Method, path: String) {
        #expect(table.refusal(of: method, path: path) == nil)
    }

    @Test(
        "What is not there is not found",
        arguments: [
            "/api/session/", "/api/session/ses_a/", "/api/session/ses_a/upgrade/x", "/api/sessio", "/", "",
            "/api/session//upgrade", "api/session", "/API/session", "/api/session/{id}/upgrade/",
        ])
    func absent(path: String) {
        #expect(table.refusal(of: .get, path: path)?.code == .notFound)
    }

    @Test("A literal path is never taken for an id, and the refusal of a method names the allowed ones")
    func literalFirst() throws {
        let create = try #require(table.refusal(of: .get, path: "/api/session/create"))
        #expect(create.code == .methodNotAllowed)
        #expect(create.headers.first?.value == "POST")
        let named = try #require(table.refusal(of: .put, path: "/api/session/ses_a"))
        #expect(named.headers.first?.value == "GET, DELETE, HEAD")
    }

    @Test("Every declared endpoint is reached: its path is the gateway's own, and the router has it")
    func everyDeclaredPathIsReached() async throws {
        let fixture = try await APIFixture { configuration in
            configuration.accounts.registration = true
            configuration.clients.registration = true
            var route = RouteConfiguration(path: "/mcp")
            route.require = .token
            route.resource = .init()
            configuration.routes = [route]
        }
        let own = OwnPaths(api: APIResponder.paths(with: fixture.configuration))
        #expect(APIResponder.routes.count >= 20)
        for route in APIResponder.routes {
            let path = route.path.replacing("{id}", with: "ses_AAAAAAAAAAAAAAAAAAAAAA")
            #expect(own.find(Array(path.utf8)) == .api(path), "\(route.method) \(path)")
            // There are no providers here.
            guard !route.path.contains("{provider}") else { continue }
            let answer = try await fixture.send(route.method.rawValue, path)
            #expect(answer.status != 404 && answer.status != 405, "\(route.method) \(path)")
        }
        #expect(try await fixture.send("GET", "/api/session/create/nothing").status == 404)
    }
}
