import Foundation
import Testing

/// Pages and client in a real browser for as long as half a minute, on a machine that does nothing else.
@Suite(.alone("a browser draws every page in many windows, and is timed")) struct LongPageTests {
    @Test("The operator's console takes a token, ends what it is told to and says why, by mouse and by keyboard")
    func consoleWorks() throws { try console("works") }

    @Test("The operator's console lists 50,000 sessions without a stutter, and tells an outage")
    func consoleOfMany() throws { try console("many") }

    @Test("The operator's console fits phone and 4K in light and dark, and is readable for all")
    func consoleLooks() throws { try console("looks") }

    private func console(_ what: String) throws {
        let result = try PageTests.run(["python3", "Tests/BrowserTests/admin_test.py", what])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("What the console ends at a gateway's admin listener, a socket and a session, ends in the page that has it")
    func consoleOfAGateway() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("limits: {enabled: false}\n")
        defer { gateway.stop() }
        let result = try PageTests.run([
            "python3", "Tests/BrowserTests/admin_test.py", "http://127.0.0.1:\(admin.port ?? 0)", admin.token ?? "",
            gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("Every page fits phone and 4K in light and dark, is readable for all, small, soon there, and keeps to itself")
    func looks() async throws {
        let gateway = try await GatewayInProcess.start("limits: {enabled: false}\n")
        defer { gateway.stop() }
        let result = try PageTests.run(["python3", "Tests/BrowserTests/looks_test.py", gateway.origin])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("The client keeps its promises in real tabs: offline, restarted, refreshed twice, a service worker between")
    func clientInTabs() throws {
        let result = try PageTests.run(["python3", "Tests/BrowserTests/client_test.py", GatewayProcess.binary.path])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }
}
