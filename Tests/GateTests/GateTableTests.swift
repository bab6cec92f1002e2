import Answers
import EdgeConfiguration
import Testing

@testable import Gate

/// Every requirement with every combination of credentials. The rows of a grid are states of the token, its columns
/// states of the session; a request whose credentials are all valid is judged after each refusal, in the same fixture.
@Suite("The gate, row by row")
struct GateTableTests {
    private static let codes = [
        "ok": "ok", "CM": "credentials_missing", "CS": "credentials_swapped", "IR": "invalid_request",
        "IT": "invalid_token", "SM": "session_mismatch",
    ]

    private static func code(_ short: Substring) throws -> String { try #require(codes[String(short)]) }

    /// A line of a table: the state, and what is expected for each column.
    private static func line(_ text: Substring) throws -> (CredentialState, [String]) {
        let words = text.split(separator: " ")
        let state = try #require(words.first.flatMap { CredentialState(rawValue: String($0)) })
        return (state, try words.dropFirst().map(code))
    }

    // MARK: token+session

    private static let columns: [CredentialState] = CredentialState.allCases

    private static let fieldsGrid = """
        absent    CM CM CM CM CM CS IR CM
        valid     CM ok SM SM SM CS IR CM
        foreign   CM SM ok SM SM CS IR CM
        dead      IT IT IT IT IT CS IR IT
        forged    IT IT IT IT IT CS IR IT
        swapped   CS CS CS CS CS CS IR CS
        twice     IR IR IR IR IR IR IR IR
        misplaced IR IR IR IR IR IR IR IR
        """

    /// A handshake is told first what it lacks.
    private static let handshakeGrid = """
        absent    CM CM CM CM CM CM IR CM
        valid     CM ok SM SM SM CS IR CM
        foreign   CM SM ok SM SM CS IR CM
        dead      CM IT IT IT IT CS IR CM
        forged    CM IT IT IT IT CS IR CM
        swapped   CM CS CS CS CS CS IR CM
        twice     IR IR IR IR IR IR IR IR
        misplaced CS IR IR IR IR IR IR CS
        """

    @Test(
        "token+session: a token and a session, each in every state",
        arguments: [
            (GateRequest.Way.fields, fieldsGrid), (.handshake, handshakeGrid), (.agentHandshake, handshakeGrid),
        ])
    func tokenAndSession(_ way: GateRequest.Way, _ grid: String) async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .tokenAndSession)
        var rows = 0
        for text in grid.split(separator: "\n") {
            let (token, expected) = try Self.line(text)
            #expect(expected.count == Self.columns.count)
            for (session, code) in zip(Self.columns, expected) {
                let request = fixture.token(token, way) + fixture.session(session, way)
                let found = try await fixture.verdict(request, way, terms)
                #expect(found == code, "\(way): token \(token), session \(session)")
                let control = fixture.token(.valid, way) + fixture.session(.valid, way)
                #expect(try await fixture.verdict(control, way, terms) == "ok")
                rows += 1
            }
        }
        #expect(rows == CredentialState.allCases.count * Self.columns.count)
    }

    @Test("token+session: the cookie's session stands in for Session-Id, and is judged as one")
    func cookieNamesTheSession() async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .tokenAndSession)
        let expected: [(CredentialState, String)] = [
            (.absent, "credentials_missing"), (.valid, "ok"), (.foreign, "session_mismatch"),
            (.dead, "credentials_missing"), (.forged, "credentials_missing"), (.swapped, "credentials_swapped"),
            (.twice, "invalid_request"), (.misplaced, "credentials_missing"),
        ]
        for (state, code) in expected {
            let request = fixture.token(.valid, .fields) + fixture.cookie(state)
            #expect(try await fixture.verdict(request, .fields, terms) == code, "cookie \(state)")
        }
        // The id that is named counts, not the cookie beside it.
        let both = fixture.token(.valid, .fields) + fixture.session(.foreign, .fields) + fixture.cookie(.valid)
        #expect(try await fixture.verdict(both, .fields, terms) == "session_mismatch")
    }

    // MARK: token

    @Test(
        "token: a token in every state; a session beside it is not looked up",
        arguments: [
            (GateRequest.Way.fields, "CM ok ok IT IT CS IR IR"), (.handshake, "CM ok ok IT IT CS IR CS"),
        ])
    func token(_ way: GateRequest.Way, _ line: String) async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .token)
        for (state, code) in zip(CredentialState.allCases, try line.split(separator: " ").map(Self.code)) {
            let token = fixture.token(state, way)
            #expect(try await fixture.verdict(token, way, terms) == code, "\(way): token \(state)")
            #expect(try await fixture.verdict(fixture.token(.valid, way), way, terms) == "ok")
        }
        for session in [CredentialState.foreign, .dead, .forged] {
            let request = fixture.token(.valid, way) + fixture.session(session, way)
            let admission = try #require(try await fixture.admission(request, way, terms))
            #expect(admission.permit == nil && admission.principal != nil)
        }
    }

    // MARK: session

    @Test("session: a secret in its header or in the cookie, each in every state")
    func sessionSecret() async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .session)
        let header = try "CM ok ok SM SM CS IR CM".split(separator: " ").map(Self.code)
        let cookie = try "CM ok ok CM CM CS IR CM".split(separator: " ").map(Self.code)
        for (index, state) in CredentialState.allCases.enumerated() {
            #expect(
                try await fixture.verdict(fixture.secret(state), .fields, terms) == header[index], "header \(state)")
            #expect(
                try await fixture.verdict(fixture.cookie(state), .fields, terms) == cookie[index], "cookie \(state)")
            #expect(try await fixture.verdict(fixture.secret(.valid), .fields, terms) == "ok")
            #expect(try await fixture.verdict(fixture.cookie(.valid), .fields, terms) == "ok")
            // In a handshake no cookie counts.
            let beside = fixture.secret(.valid) + fixture.cookie(state)
            #expect(try await fixture.verdict(beside, .handshake, terms) == "ok")
            let alone = try await fixture.verdict(fixture.cookie(state), .handshake, terms)
            #expect(alone == "credentials_missing")
        }
    }

    @Test(
        "session: a live cookie beside another secret is refused, a dead one ignored",
        arguments: [
            (CredentialState.valid, CredentialState.valid, "ok"), (.valid, .foreign, "invalid_request"),
            (.valid, .dead, "ok"), (.valid, .forged, "ok"), (.dead, .valid, "invalid_request"),
            (.forged, .valid, "invalid_request"), (.dead, .forged, "session_mismatch"),
            (.forged, .dead, "session_mismatch"),
        ])
    func twoSecrets(_ header: CredentialState, _ cookie: CredentialState, _ code: String) async throws {
        let fixture = try await GateFixture()
        let request = fixture.secret(header) + fixture.cookie(cookie)
        #expect(try await fixture.verdict(request, .fields, AccessTerms(requirement: .session)) == code)
    }

    // MARK: none

    @Test("none: no credential is read, even if sent; the admission is open", arguments: CredentialState.allCases)
    func open(_ state: CredentialState) async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .none)
        for way in [GateRequest.Way.fields, .handshake] {
            let request = fixture.token(state, way) + fixture.session(state, way) + fixture.secret(state)
            let admission = try #require(try await fixture.admission(request, way, terms))
            #expect(admission.isOpen && admission.principal == nil && admission.permit == nil)
        }
    }

    @Test("none: a query out of which credentials can't be taken is refused")
    func unreadableQuery() async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .none)
        let long = Carried(query: Array(repeating: "a=b", count: 1_025))
        #expect(try await fixture.verdict(long, .fields, terms) == "invalid_request")
        #expect(try await fixture.verdict(Carried(query: ["a=b"]), .fields, terms) == "ok")
    }
}
