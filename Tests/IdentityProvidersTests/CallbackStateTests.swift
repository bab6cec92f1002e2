import Encodings
import Testing

@testable import IdentityProviders

@Suite("The state of a callback")
struct CallbackStateTests {
    private let script: Script

    init() throws { script = try Script() }

    private static let faults: [Lie] = [
        Lie("is missing", "state: state_missing") { $0.response = { $0.replacing("state", nil) } },
        Lie("is empty", "state: state_missing") { $0.response = { $0.replacing("state", "") } },
        Lie("comes twice", "state: state_repeated") { $0.response = { $0 + $0.filter { $0.name == "state" } } },
        Lie("is of another shape", "state: state_malformed") { $0.response = { $0.replacing("state", "abc") } },
        Lie("was never made", "state: state_unknown") {
            $0.response = { $0.replacing("state", Base64URL.encode([UInt8](repeating: 7, count: 32))) }
        },
        Lie("is too late", "state: state_expired") { $0.delay = 600_000 },
        Lie("is of a clock that was set back", "state: state_expired") { $0.delay = -1 },
        Lie("comes without a session", "state: state_of_other_browser") { $0.sessionAtReturn = nil },
        Lie("comes with another session", "state: state_of_other_browser") {
            $0.sessionAtReturn = BrowserSession(sessionID: "ses_2", epoch: 3, secret: "sec_of_the_browser")
        },
        Lie("comes after a change of privilege", "state: state_before_rotation") {
            $0.sessionAtReturn = BrowserSession(sessionID: "ses_1", epoch: 4, secret: "sec_of_the_browser")
        },
        Lie("comes with another secret of the same session", "state: state_before_rotation") {
            $0.sessionAtReturn = BrowserSession(sessionID: "ses_1", epoch: 3, secret: "sec_rotated")
        },
    ]

    @Test("refuses before anything is asked of the provider", arguments: faults)
    func fault(lie: Lie) async throws {
        let world = World(try lie.told(script))
        let summary = try await world.signIn().summary
        // Discovery was asked for when the sign-in began.
        #expect(world.requests.count == 1, "a code was redeemed")
        #expect(summary == lie.expected)
    }

    @Test("is good until the last millisecond of ten minutes") func inTime() async throws {
        var script = script
        script.delay = 599_999
        script.claims["iat"] = 1_800_000_599
        script.claims["exp"] = 1_800_000_900
        #expect(try await World(script).signIn().summary == "identified")
    }

    @Test("counts once") func once() async throws {
        let world = World(script)
        let provider = world.provider()
        let response = try await world.begin(provider)
        #expect(try await world.finish(provider, response).summary == "identified")
        #expect(try await world.finish(provider, response).summary == "state: state_unknown")
        #expect(world.requests(to: "https://idp.example/token") == 1)
    }

    @Test("is not used up by another browser, with a session or without") func otherBrowser() async throws {
        let world = World(script)
        let provider = world.provider()
        let response = try await world.begin(provider)
        let own = world.current.sessionAtReturn
        for other in [nil, BrowserSession(sessionID: "ses_2", epoch: 3, secret: "sec_of_another")] {
            world.change { $0.sessionAtReturn = other }
            #expect(try await world.finish(provider, response).summary == "state: state_of_other_browser")
        }
        world.change { $0.sessionAtReturn = own }
        #expect(try await world.finish(provider, response).summary == "identified")
    }

    @Test("is good for one of two callbacks that found it at the same time") func twice() throws {
        let endpoint = try #require(EndpointURL("https://idp.example/authorize"))
        let secrets = LoginSecrets(for: session)
        let begun = AuthorizationRequest(
            to: Script.openID, at: endpoint, redirectURI: "https://gate.example/cb", session: session, returnTo: .root,
            hints: LoginHints(), now: start, secrets: secrets)
        let context = CallbackMachine.Context(
            provider: Script.openID, redirectURI: "https://gate.example/cb", session: session, clientKey: nil, leeway: 0
        )
        let query = FormText.encode([FormParameter("code", "c"), FormParameter("state", secrets.state)])
        for isTaken in [true, false] {
            var machine = CallbackMachine(context)
            _ = machine.handle(.returned(AuthorizationResponse(query: query)), now: start)
            guard case .takePending = machine.handle(.pendingFound(begun.pending), now: start) else {
                Issue.record("it is not taken")
                continue
            }
            switch machine.handle(.pendingTaken(isTaken), now: start) {
            case .findEndpoints: #expect(isTaken)
            case .refuse(.unknown): #expect(!isTaken)
            default: Issue.record("something else happened")
            }
        }
    }

    @Test("is not taken by another provider's callback") func otherProvider() async throws {
        let world = World(script)
        let response = try await world.begin(world.provider())
        world.change { $0.configuration.name = "evil" }
        #expect(try await world.finish(world.provider(), response).summary == "state: state_of_other_provider")
    }

    @Test("is not taken after the issuer of the provider was changed") func otherIssuer() async throws {
        let world = World(script)
        let response = try await world.begin(world.provider())
        world.change { $0.configuration.issuer = "https://new.example" }
        #expect(try await world.finish(world.provider(), response).summary == "state: state_of_other_provider")
    }

    @Test("counts before any other fault") func first() async throws {
        var script = script
        script.sessionAtReturn = nil
        script.response = { $0.replacing("code", nil) + [FormParameter("error", "access_denied")] }
        #expect(try await World(script).signIn().summary == "state: state_of_other_browser")
    }

    @Test("is found by another node, without the discovery document in memory") func anotherNode() async throws {
        let world = World(script)
        let response = try await world.begin(world.provider())
        #expect(try await world.finish(world.provider(), response).summary == "identified")
        #expect(world.requests(to: "https://idp.example/.well-known/openid-configuration") == 2)
    }

    @Test("ends the machine if a step comes out of order") func outOfOrder() throws {
        let context = CallbackMachine.Context(
            provider: Script.openID, redirectURI: "https://gate.example/cb", session: session, clientKey: nil, leeway: 0
        )
        let early: [CallbackMachine.Event] = [
            .pendingFound(nil), .pendingTaken(true), .answered(.json([:])), .failed(ProviderFault(.unreachable, "")),
        ]
        for event in early {
            var machine = CallbackMachine(context)
            guard case .refuse(.unknown) = machine.handle(event, now: start) else {
                Issue.record("something happened")
                continue
            }
            #expect(machine.isEnded)
            guard case .refuse(.unknown) = machine.handle(event, now: start) else {
                Issue.record("something happened after the end")
                continue
            }
        }
    }

    @Test("and what is stored of it hold no secret") func stored() throws {
        let endpoint = try #require(EndpointURL("https://idp.example/authorize"))
        let secrets = LoginSecrets(for: session)
        let begun = AuthorizationRequest(
            to: Script.openID, at: endpoint, redirectURI: "https://gate.example/cb", session: session, returnTo: .root,
            hints: LoginHints(maximumAge: 5), now: start, secrets: secrets)
        for secret in [secrets.state, secrets.nonce, secrets.codeVerifier, "sec_of_the_browser"] {
            #expect(!begun.pending.stored.contains(secret))
        }
        #expect(!begun.location.contains(secrets.codeVerifier))
        let again = PendingLogin(stateHash: begun.pending.stateHash, stored: begun.pending.stored)
        #expect(again == begun.pending)
        var kept = begun.pending
        kept.keptAt = start + 1
        #expect(PendingLogin(stateHash: kept.stateHash, stored: kept.stored) == kept)
        #expect(PendingLogin(stateHash: [], stored: "{}") == nil)
        #expect(PendingLogin(stateHash: [], stored: begun.pending.stored.replacing("\"/\"", with: "\"//evil\"")) == nil)
    }
}
