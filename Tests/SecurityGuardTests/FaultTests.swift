import JOSE
import OAuth
import Testing

@testable import SecurityGuard

@Suite("Faults and errors of the guard")
struct FaultTests {
    @Test("Each is equal to another one of the same code, with any other contents")
    func equality() {
        #expect(TokenFault(.invalidToken, reason: "a") == TokenFault(.invalidToken, reason: "b"))
        #expect(TokenFault(.invalidToken, reason: "a") != TokenFault(.tokenExpired, reason: "a"))
        #expect(AuthError(.conflict, "a") == AuthError(.conflict) && AuthError(.conflict) != AuthError(.notFound))
        #expect(OAuthFault(.invalidGrant, "a", reason: "b") == OAuthFault(.invalidGrant, "c"))
        let cause = JOSEError(.keyUnreadable, "not PEM")
        #expect(GuardError(.keyFile, "a", cause: cause) == GuardError(.keyFile, "b"))
        #expect(GuardError(.keyFile, "a") != GuardError(.keyState, "a"))
    }

    @Test("An error says its sentence to the operator, and to a debugger its code, its cause and where it was made")
    func descriptions() {
        let line = #line + 1
        let error = GuardError(.keyFile, "a.pem can't be used", cause: JOSEError(.keyUnreadable, "not PEM"))
        #expect("\(error)" == "a.pem can't be used")
        #expect(
            error.debugDescription
                == "keyFile: a.pem can't be used (not PEM) at SecurityGuardTests/FaultTests.swift:\(line)")
        #expect(error.cause as? JOSEError == JOSEError(.keyUnreadable, ""))
    }

    @Test("A policy has one bound for each lifetime: the one that the configuration has")
    func bounds() throws {
        var policy = TokenPolicy(issuer: "https://x")
        policy.refreshTokenLifetime = 3_650 * 86_400_000
        policy.accessTokenLifetime = 366 * 86_400_000
        try policy.check()
        policy.refreshTokenLifetime += 1
        #expect(throws: GuardError(.policy, "")) { try policy.check() }
        policy.refreshTokenLifetime = 1_000
        policy.accessTokenLifetime = 999
        #expect(throws: GuardError(.policy, "")) { try policy.check() }
    }
}
