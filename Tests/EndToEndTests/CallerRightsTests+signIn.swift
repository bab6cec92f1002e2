import Encodings
import Foundation
import GatewayForTests
import StateSurface
import Testing

/// Routes that ask for another sign-in.
extension CallerRightsTests {
    @Test("A page that asks for a recent sign-in gets one: the session's owner is judged by how they signed in")
    func freshPage() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let visit = { (secret: String) in
            try gateway.request(
                "GET", "/page", headers: [("Session-Secret", secret), ("Sec-Fetch-Mode", "navigate")])
        }
        #expect(try visit(ada.sessionSecret).status == 200)
        gateway.clock.advance(by: .seconds(301))
        let stale = try visit(ada.sessionSecret)
        #expect(stale.status == 303 && stale["location"] == "/in?return_to=/page&max_age=300")
        let again = try gateway.request(
            "POST", "/api/auth/login", headers: [("Session-Secret", ada.sessionSecret)],
            json: ["email": TestUser.ada.email, "password": TestUser.ada.password])
        #expect(again.json["session"] as? String == "resumed")
        #expect(try visit(again.json["session_secret"] as? String ?? "").status == 200)
        // A visitor who has not signed in has not done so recently.
        let visitor = try gateway.request("POST", "/api/session/create-anonymous")
        #expect(try visit(visitor.json["session_secret"] as? String ?? "").status == 303)
    }

    @Test("fresh and acr ask for another sign-in: 401 with a challenge, and login_url with its parameters")
    func anotherSignIn() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        #expect(try gateway.request("GET", "/recent", headers: [ada.bearer]).status == 200)
        #expect(try gateway.socket("/recent?access_token=\(ada.token)").isOpen)
        let weak = try gateway.request("GET", "/fresh/a?b=c", headers: [ada.bearer])
        #expect(weak.status == 401 && weak.code == "not_allowed")
        #expect(
            weak["www-authenticate"]
                == "Bearer realm=\"gatehouse\", error=\"insufficient_user_authentication\", max_age=\"300\", "
                + "acr_values=\"phr\"")
        let page = try gateway.request("GET", "/fresh/a?b=c", headers: [ada.bearer, ("Sec-Fetch-Mode", "navigate")])
        #expect(
            page.status == 303
                && page["location"] == "/in?a=b&return_to=/fresh/a%3Fb%3Dc&max_age=300&acr_values=phr")
        gateway.clock.advance(by: .seconds(301))
        for way in [[ada.bearer], [("X-Forwarded-Uri", "/recent"), ("X-Forwarded-Method", "GET"), ada.bearer]] {
            let stale = try gateway.request("GET", way.count == 1 ? "/recent" : "/api/auth/verify", headers: way)
            #expect(stale.status == 401 && stale["www-authenticate"]?.contains("max_age=\"300\"") == true)
        }
        let refused = try gateway.socket("/recent?access_token=\(ada.token)")
        #expect(!refused.isOpen && refused.answer.status == 401)
        // A refresh is no sign-in.
        let refreshed = try gateway.refresh(ada.refreshToken).json["access_token"] as? String ?? ""
        let bearer = ("Authorization", "Bearer \(refreshed)")
        #expect(try gateway.request("GET", "/recent", headers: [bearer]).status == 401)
        #expect(try gateway.request("GET", "/open", headers: [bearer]).status == 200)
        let again = try gateway.login(.ada)
        #expect(try gateway.request("GET", "/recent", headers: [again.bearer]).status == 200)
    }

    @Test("acr of the provider's sign-in decides on requests, sockets and decisions alike, and a refresh keeps it")
    func strength() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.routes(upstream) + "\nlimits: {enabled: false}\n" + provider.yaml(), users: [])
        defer { gateway.stop() }
        let asked = [("X-Forwarded-Uri", "/strong"), ("X-Forwarded-Method", "GET")]
        for (acr, status) in [("phr", 200), ("pwd", 401), ("PHR", 401)] {
            provider.change { $0.claims["acr"] = .string(acr) }
            var browser = BrowserProbe(gateway)
            _ = try browser.signIn(provider)
            let first = try browser.tokens()
            for caller in [first, try browser.tokens()] {
                let socket = try gateway.socket("/strong?access_token=\(caller.token)")
                #expect(socket.isOpen == (status == 200), "\(acr): \(socket.answer.status)")
                let answers = [
                    try gateway.request("GET", "/strong", headers: [caller.bearer]),
                    try gateway.request("GET", "/api/auth/verify", headers: asked + [caller.bearer]),
                ]
                for answer in answers { #expect(answer.status == status, "\(acr): \(answer.text)") }
                for answer in answers + [socket.answer] where status == 401 {
                    #expect(answer.status == 401 && answer.code == "not_allowed", "\(acr): \(answer.text)")
                    #expect(
                        answer["www-authenticate"]
                            == "Bearer realm=\"gatehouse\", error=\"insufficient_user_authentication\", "
                            + "acr_values=\"phr\"")
                }
            }
        }
    }

    @Test("A visitor who has not signed in is sent to sign in; one who has, and may not, is refused")
    func navigation() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        let bob = try gateway.login(.bob)
        let made = try gateway.request("POST", "/api/session/create-anonymous").json
        let navigate = ("Sec-Fetch-Mode", "navigate")
        let secret = made["session_secret"] as? String ?? ""
        let anonymous = try gateway.request("GET", "/secret", headers: [navigate, ("Session-Secret", secret)])
        #expect(anonymous.status == 303 && anonymous["location"] == "/in?return_to=/secret")
        let member = [navigate, ("Session-Secret", bob.sessionSecret)]
        let refused = try gateway.request("GET", "/secret", headers: member)
        #expect(refused.status == 403 && refused.code == "not_allowed")
    }
}
