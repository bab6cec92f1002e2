import Answers
import IdentityProviders
import Testing

@testable import GatewayAPI

@Suite("The query of a sign-in through a provider")
struct LoginQueryTests {
    @Test("Where to come back and what to pass on are read; other parameters are ignored")
    func read() throws {
        let empty = try LoginQuery(nil)
        #expect(empty.returnTo == .root && empty.hints == LoginHints())
        let query = try LoginQuery(
            "return_to=%2Fcart%3Fa%3Db&prompt=login%20consent&login_hint=ada%40example.com&max_age=0&acr_values=a+b&utm=1"
        )
        #expect(query.returnTo.text == "/cart?a=b")
        #expect(
            query.hints
                == LoginHints(
                    prompt: "login consent", loginHint: "ada@example.com", maximumAge: 0, acrValues: ["a", "b"]))
    }

    @Test(
        "What can't be passed on is refused",
        arguments: [
            "return_to=", "return_to=//a", "return_to=/a&return_to=/a", "prompt=other", "prompt=none%20login",
            "max_age=-1", "max_age=1.5", "max_age=99999999999999999999", "max_age=+5", "max_age=",
            "login_hint=%0a", "login_hint=" + String(repeating: "a", count: 257), "acr_values=%C3%A9", "a=%zz", "a=%ff",
            "acr_values=1+2+3+4+5+6+7+8+9",
        ])
    func refused(query: String) {
        let problem = #expect(throws: Problem.self) { try LoginQuery(query) }
        #expect(problem?.code == .invalidRequest && problem?.detail.contains("%") == false)
    }
}
