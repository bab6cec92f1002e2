import HTTPTypes
import Testing

@testable import GatewayAPI

@Suite("The order of checks at the API")
struct APIOrderTests {
    @Test("A request is told the first of its faults, whichever others it has", arguments: APIOrder.rows)
    func order(_ row: APIOrder) async throws {
        let scene = try await APIOrderScene()
        for (place, fault) in row.faults.enumerated() {
            let later = Array(row.faults[(place + 1)...])
            // Alone, with all that are told after it, and with each of them.
            let combinations: [[APIFault]] = [[], later] + later.map { [$0] }
            for others in combinations {
                let answer = try await scene.ask(row, [fault] + others)
                #expect(answer.code == fault.code, "\(fault) with \(others): \(answer.status)")
            }
        }
        let answer = try await scene.ask(row, [])
        #expect(answer.status == row.status, "without a fault: \(answer.code ?? "")")
    }

    @Test("Every endpoint has its row, unless it asks for no credential, no members and no session")
    func complete() {
        let ordered = APIResponder.routes.filter { route in
            route.terms.credential != .unread || route.terms.body != nil || route.terms.session != .unread
        }
        let there = Set(ordered.map { "\($0.method.rawValue) \($0.path)" })
        #expect(there == Set(APIOrder.rows.map { "\($0.method) \($0.path)" }))
    }

    @Test(
        "An unknown provider is told before the store",
        arguments: ["/api/auth/login/nobody", "/api/auth/callback/nobody"])
    func provider(_ path: String) async throws {
        let fixture = try await APIFixture()
        fixture.loseFeed()
        let answer = try await fixture.send("GET", path)
        #expect(answer.status == 404 && answer.code == "not_found")
    }
}
