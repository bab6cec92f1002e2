import Answers
import EdgeConfiguration
import Runtime
import SecurityGuard
import Testing

@testable import Gate

/// Which of several faults is told, and what is asked besides the credentials themselves.
@Suite("The order of checks at the gate")
struct GateOrderTests {
    private static let both = AccessTerms(requirement: .tokenAndSession)

    // MARK: Handshakes

    /// Each fault with everything that is checked after it at fault as well.
    @Test("A handshake is told the first of its faults")
    func handshakeOrder() async throws {
        let fixture = try await GateFixture()
        let origin = Carried.field("Origin", "https://evil.example")
        let legacy = Carried.query("session_token", "x")
        let twice = fixture.session(.twice, .handshake)
        let swapped = fixture.session(.swapped, .handshake)
        let forged = fixture.token(.forged, .handshake)
        let foreign = fixture.session(.foreign, .handshake)
        let rows: [(Carried, String)] = [
            (origin + legacy + twice, "origin_refused"),
            (legacy + twice, "session_token_unsupported"),
            (twice, "invalid_request"),
            (swapped, "credentials_missing"),
            (forged + swapped, "credentials_swapped"),
            (forged + foreign, "invalid_token"),
            (fixture.token(.valid, .handshake) + foreign, "session_mismatch"),
            (fixture.token(.valid, .handshake) + fixture.session(.valid, .handshake), "ok"),
        ]
        for (request, code) in rows {
            #expect(try await fixture.verdict(request, .handshake, Self.both) == code)
        }
    }

    @Test(
        "resume_from is read with the carriers of the agent's handshake, and nowhere else",
        arguments: [
            ("7", "ok"), ("-1", "invalid_request"), ("x", "invalid_request"),
            ("1234567890123456789", "invalid_request"),
            ("", "invalid_request"),
        ])
    func resumeFrom(_ value: String, _ code: String) async throws {
        let fixture = try await GateFixture()
        let request =
            fixture.token(.valid, .handshake) + fixture.session(.valid, .handshake) + .query("resume_from", value)
        #expect(try await fixture.verdict(request, .agentHandshake, Self.both) == code)
        #expect(try await fixture.verdict(request, .handshake, Self.both) == "ok")
        // It is told before what is missing.
        let alone = try await fixture.verdict(.query("resume_from", value), .agentHandshake, Self.both)
        #expect(alone == (code == "ok" ? "credentials_missing" : "invalid_request"))
    }

    @Test("Every carrier of a handshake admits; two of one kind do not")
    func carriersOfHandshakes() async throws {
        let fixture = try await GateFixture()
        let (token, session) = (fixture.credentials.token, fixture.credentials.session)
        let tokens: [Carried] = [
            .bearer(token), .query("access_token", token), .field("Sec-WebSocket-Protocol", "bearer.\(token)"),
        ]
        let sessions: [Carried] = [
            .field("Session-Id", session), .query("session_id", session),
            .field("Sec-WebSocket-Protocol", "gatehouse.v1, session.\(session)"),
        ]
        for (index, token) in tokens.enumerated() {
            for session in sessions {
                #expect(try await fixture.verdict(token + session, .handshake, Self.both) == "ok")
                for other in tokens[(index + 1)...] {
                    let doubled = try await fixture.verdict(token + other + session, .handshake, Self.both)
                    #expect(doubled == "invalid_request")
                }
            }
        }
    }

    // MARK: Tickets

    @Test("A ticket opens one socket, once, alone, and where it was minted for")
    func tickets() async throws {
        let fixture = try await GateFixture()
        let ticket = try await fixture.ticket()
        let carried = Carried.query("ticket", ticket)
        // A request that is no handshake has no ticket; to be shown there does not use it up.
        #expect(try await fixture.verdict(carried, .fields, Self.both) == "credentials_missing")
        let beside = carried + fixture.token(.valid, .handshake)
        #expect(try await fixture.verdict(beside, .handshake, Self.both) == "invalid_request")
        let admission = try #require(try await fixture.admission(carried, .handshake, Self.both))
        #expect(admission.principal != nil && admission.permit?.sessionID == fixture.credentials.session)
        #expect(try await fixture.verdict(carried, .handshake, Self.both) == "invalid_token")
        let twice = Carried.query("ticket", "tkt_a") + .query("ticket", "tkt_b")
        #expect(try await fixture.verdict(twice, .handshake, Self.both) == "invalid_request")
        let swapped = Carried.query("ticket", fixture.credentials.secret)
        #expect(try await fixture.verdict(swapped, .handshake, Self.both) == "credentials_swapped")

        let bound = Carried.query("ticket", try await fixture.ticket(origin: GateFixture.origin))
        #expect(try await fixture.verdict(bound, .handshake, Self.both) == "invalid_token")
        let again = Carried.query("ticket", try await fixture.ticket(origin: GateFixture.origin))
        let there = again + .field("Origin", GateFixture.origin)
        #expect(try await fixture.verdict(there, .handshake, Self.both) == "ok")
    }

    // MARK: Rights

    @Test("A scope that the token lacks is refused alike, for every requirement and every carrier")
    func scopes() async throws {
        let fixture = try await GateFixture()
        for requirement in [RouteConfiguration.Requirement.token, .tokenAndSession] {
            let lacking = AccessTerms(requirement: requirement, scopes: ["read", "admin"])
            let held = AccessTerms(requirement: requirement, scopes: ["read"])
            for way in [GateRequest.Way.fields, .handshake] {
                let request = fixture.token(.valid, way) + fixture.session(.valid, way)
                #expect(try await fixture.verdict(request, way, lacking) == "insufficient_scope")
                #expect(try await fixture.verdict(request, way, held) == "ok")
            }
            let request = fixture.token(.valid, .fields)
            #expect(try fixture.known(request, .fields, lacking) == nil)
        }
        let ticket = Carried.query("ticket", try await fixture.ticket())
        let lacking = AccessTerms(requirement: .tokenAndSession, scopes: ["admin"])
        #expect(try await fixture.verdict(ticket, .handshake, lacking) == "insufficient_scope")
    }

    // MARK: Cross-site

    @Test(
        "A foreign page's unsafe request is refused where the cookie alone would admit it",
        arguments: [
            ("POST", "https://evil.example", "origin_refused"), ("POST", GateFixture.origin, "ok"),
            ("GET", "https://evil.example", "ok"),
        ])
    func crossSite(_ method: String, _ origin: String, _ code: String) async throws {
        let fixture = try await GateFixture()
        let sender = Carried(method: method, fields: [("Origin", origin)])
        let session = AccessTerms(requirement: .session)
        #expect(try await fixture.verdict(sender + fixture.cookie(.valid), .fields, session) == code)
        let owner = sender + fixture.cookie(.valid) + fixture.token(.valid, .fields)
        #expect(try await fixture.verdict(owner, .fields, Self.both) == code)
        // A credential that no browser attaches by itself was put there by its owner.
        #expect(try await fixture.verdict(sender + fixture.secret(.valid), .fields, session) == "ok")
        let named = owner + fixture.session(.valid, .fields)
        #expect(try await fixture.verdict(named, .fields, Self.both) == "ok")
    }

    // MARK: The store

    @Test("While the store is silent what is known passes and no socket opens; once it is lost nothing passes")
    func storeHealth() async throws {
        let fixture = try await GateFixture()
        let known = fixture.token(.valid, .fields) + fixture.session(.valid, .fields)
        let unknown = fixture.token(.valid, .fields) + fixture.session(.forged, .fields)
        #expect(try await fixture.verdict(known, .fields, Self.both) == "ok")
        #expect(try await fixture.verdict(unknown, .fields, Self.both) == "session_mismatch")
        let rows: [(StoreHealth, fields: String, unknown: String, handshake: String)] = [
            (.silent, "ok", "store_unavailable", "store_unavailable"),
            (.lost, "store_unavailable", "store_unavailable", "store_unavailable"),
            (.current, "ok", "session_mismatch", "ok"),
        ]
        for row in rows {
            fixture.memory.storeHealth = row.0
            #expect(try await fixture.verdict(known, .fields, Self.both) == row.fields)
            #expect(try await fixture.verdict(unknown, .fields, Self.both) == row.unknown)
            #expect(try await fixture.verdict(known, .handshake, Self.both) == row.handshake)
            let token = AccessTerms(requirement: .token)
            #expect(try await fixture.verdict(fixture.token(.valid, .handshake), .handshake, token) == row.handshake)
            let secret = AccessTerms(requirement: .session)
            #expect(try await fixture.verdict(fixture.secret(.valid), .fields, secret) == row.fields)
            #expect(try await fixture.verdict(fixture.secret(.valid), .handshake, secret) == row.handshake)
        }
    }

    // MARK: What is known

    @Test("The shorter way to what is known gives the verdict of the whole order")
    func shorterWay() async throws {
        let fixture = try await GateFixture()
        // With a query, whatever it says, carriers are read one by one.
        let query = Carried.query("page", "2")
        let states = CredentialState.allCases.filter { $0 != .misplaced }
        var known = 0
        for way in [GateRequest.Way.fields, .handshake] {
            for requirement in RouteConfiguration.Requirement.allCases {
                let terms = AccessTerms(requirement: requirement)
                for (token, session) in states.flatMap({ token in states.map { (token, $0) } }) {
                    for extra in [Carried.nothing, fixture.cookie(.valid), fixture.secret(.foreign)] {
                        let request = fixture.token(token, way) + fixture.session(session, way) + extra
                        let whole = try await fixture.verdict(request + query, way, terms)
                        let shorter = try await fixture.verdict(request, way, terms)
                        #expect(shorter == whole, "\(requirement) by \(way): token \(token), session \(session)")
                        #expect(try fixture.known(request + query, way, terms) == nil)
                        if try fixture.known(request, way, terms) != nil { known += 1 }
                    }
                }
            }
        }
        // Each way: for token, valid and foreign without a session; for token+session, each with their own.
        #expect(known == 8)
    }
}
