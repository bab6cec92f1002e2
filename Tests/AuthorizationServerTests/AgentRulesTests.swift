import Encodings
import IdentityProviders
import OAuth
import Testing

@testable import AuthorizationServer

@Suite("Rules for agents") struct AgentRulesTests {
    @Test("PKCE takes the verifier of RFC 7636 appendix B and no other")
    func proofKey() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        #expect(ProofKey.verifies("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", challenge: challenge))
        #expect(!ProofKey.verifies("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl", challenge: challenge))
        #expect(!ProofKey.verifies(challenge, challenge: challenge))
        #expect(!ProofKey.verifies("short", challenge: challenge))
    }

    @Test(
        "An issuer is an origin in its normal form",
        arguments: [
            ("https://gate.example", true), ("http://127.0.0.1:8080", true), ("https://xn--bcher-kva.example", true),
            ("https://gate.example/", false), ("https://Gate.example", false), ("HTTPS://gate.example", false),
            ("https://gate.example:443", false), ("http://gate.example:80", false), ("https://gate.example/a", false),
            ("https://gate.example?x", false), ("https://gate.example#x", false), ("gate.example", false),
            ("http://[::1]:8080", true), ("http://[0:0:0:0:0:0:0:1]:8080", false), ("http://[::0001]:8080", false),
            ("https://[2001:db8::1:0:0:1]", true), ("https://[2001:db8:0:0:1::1]", false), ("https://[::]", true),
        ])
    func issuer(_ text: String, _ isOrigin: Bool) { #expect(ResourceIdentifier.isOrigin(text) == isOrigin) }

    @Test(
        "A scope is visible ASCII without quotes and backslashes, 128 characters at most, and 64 of them at most",
        arguments: [
            ("", []), ("a", ["a"]), ("a b a", ["a", "b"]), ("a\tb", nil), ("a\"b", nil), ("a\\b", nil), ("ä", nil),
            (String(repeating: "a", count: 128), [String(repeating: "a", count: 128)]),
            (String(repeating: "a", count: 129), nil),
            ((0..<64).map { "\($0)" }.joined(separator: " ") + " 0", (0..<64).map { "\($0)" }),
            ((0..<65).map { "\($0)" }.joined(separator: " "), nil),
        ] as [(String, [String]?)])
    func scope(_ text: String, _ tokens: [String]?) {
        #expect(Scope.parse(text) == tokens)
        #expect(Scope.parseWithExtraSpaces(text) == tokens)
    }

    @Test(
        "Spaces at the ends and several in a row are taken only where that is allowed", arguments: [" a", "a ", "a  b"])
    func spaces(_ text: String) {
        #expect(Scope.parse(text) == nil)
        #expect(Scope.parseWithExtraSpaces(text) == (text.contains("b") ? ["a", "b"] : ["a"]))
    }

    @Test("Scopes: asked, the resource's, the client's and the account's")
    func scopes() {
        let all = ["a", "b", "c"]
        #expect(Scope.granted(asked: [], resource: all, client: [], mayHave: { _ in true }) == all)
        #expect(Scope.granted(asked: ["b", "x"], resource: all, client: [], mayHave: { _ in true }) == ["b"])
        #expect(Scope.granted(asked: [], resource: all, client: ["c", "x"], mayHave: { _ in true }) == ["c"])
        #expect(Scope.granted(asked: [], resource: all, client: [], mayHave: { $0 == "a" }) == ["a"])
        #expect(Scope.granted(asked: ["x"], resource: all, client: [], mayHave: { _ in true }).isEmpty)
    }

    @Test("A personal access token has a checksum, and every wrong character is found before a lookup")
    func personalToken() throws {
        let token = PersonalToken.random()
        #expect(token.utf8.count == 53 && PersonalToken.hash(token.utf8) != nil)
        for index in token.utf8.indices.dropFirst(4) {
            var bytes = Array(token.utf8)
            let place = token.utf8.distance(from: token.utf8.startIndex, to: index)
            bytes[place] = bytes[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(PersonalToken.hash(bytes) == nil)
        }
        #expect(PersonalToken.hash(token.utf8.dropLast()) == nil)
        #expect(
            PersonalToken.text(of: Array(repeating: 0, count: 32)).hasPrefix("pat_" + String(repeating: "0", count: 43))
        )
        #expect(PersonalToken.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test(
        "The id of a metadata document is an https URL with a path",
        arguments: [
            ("https://app.example/client.json", true), ("https://app.example/a?b", true),
            ("https://app.example", false), ("https://app.example/", false), ("http://app.example/c", false),
            ("https://app.example/a/../b", false), ("https://u@app.example/c", false),
            ("https://app.example/a/%2e%2e/b", false), ("https://app.example/a/.%2E/b", false),
            ("https://app.example/a/%2E.", false), ("https://app.example/%2e/b", false),
            ("https://app.example/./b", false), ("https://app.example/a/%2e%2e?b", false),
            ("https://app.example/a%2eb/...", true), ("https://app.example/a?/%2e%2e/", true),
            ("https://app.example/c#f", false),
        ])
    func documentID(_ id: String, _ isGood: Bool) {
        #expect((ClientMetadataDocument.url(ofClientID: id) != nil) == isGood)
        #expect(ClientMetadataDocument.host(ofClientID: id) == (isGood ? "app.example" : nil))
    }

    @Test(
        "A document that lies or asks for a secret is refused",
        arguments: [
            (#"{"client_id":"https://app.example/c","redirect_uris":["https://app.example/cb"]}"#, nil),
            (#"{"client_id":"https://other.example/c","redirect_uris":["https://app.example/cb"]}"#, .foreign),
            (#"{"redirect_uris":["https://app.example/cb"]}"#, .foreign),
            (#"{"client_id":"https://app.example/c","redirect_uris":[]}"#, .malformed),
            (#"{"client_id":"https://app.example/c","redirect_uris":["javascript:x"]}"#, .malformed),
            (
                #"{"client_id":"https://app.example/c","redirect_uris":["https://a.example/"],"client_secret":"x"}"#,
                .authentication
            ),
            (
                #"{"client_id":"https://app.example/c","redirect_uris":["https://a.example/"],"#
                    + #""token_endpoint_auth_method":"client_secret_basic"}"#, .authentication
            ), ("[]", .malformed), ("nonsense", .malformed),
        ] as [(String, ClientMetadataDocument.Fault?)])
    func document(_ body: String, _ fault: ClientMetadataDocument.Fault?) throws {
        let url = try #require(EndpointURL("https://app.example/c"))
        if let fault {
            #expect(throws: fault) { try ClientMetadataDocument.client(id: url, body: Array(body.utf8)) }
        } else {
            #expect(try ClientMetadataDocument.client(id: url, body: Array(body.utf8)).host == "app.example")
        }
    }

    @Test(
        "A document is kept as its header fields say, within bounds",
        arguments: [
            (nil, 300_000), ("max-age=10", 300_000), ("max-age=600", 600_000), ("public, max-age=9999999", 86_400_000),
            ("no-store, max-age=9999", 300_000), ("max-age=-5", 300_000), ("max-age=99999999999999999999", 300_000),
        ] as [(String?, Int64)])
    func freshness(_ cacheControl: String?, _ milliseconds: Int64) {
        #expect(ClientMetadataDocument.freshness(cacheControl: cacheControl) == milliseconds)
    }

    @Test("A code is checked for client, redirect URI, verifier and resource")
    func code() throws {
        let code = AuthorizationCode(
            familyID: "f", clientID: "cli_a", redirectURI: "https://app.example/cb",
            challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", resource: "https://gate.example/mcp")
        #expect(AuthorizationCode(stored: code.stored) == code)
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        func refusal(
            client: String = "cli_a", uri: String? = "https://app.example/cb", verifier: String? = verifier,
            resource: String? = nil
        ) -> OAuthFault? {
            do throws(OAuthFault) {
                try code.check(clientID: client, redirectURI: uri, verifier: verifier, resource: resource)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal() == nil && refusal(uri: nil, resource: "https://GATE.example/mcp") == nil)
        for (refused, reason) in [
            (refusal(client: "cli_b"), "code_foreign_client"),
            (refusal(uri: "https://app.example/cb2"), "code_redirect_mismatch"),
            (refusal(verifier: nil), "pkce_failed"), (refusal(verifier: verifier + "x"), "pkce_failed"),
        ] {
            #expect(refused?.code == .invalidGrant && refused?.reason == reason)
        }
        let elsewhere = refusal(resource: "https://gate.example/x")
        #expect(elsewhere?.code == .invalidTarget && elsewhere?.reason == "code_resource_mismatch")
    }

    @Test("A consent request is answered in the session that was asked, of the same epoch and user")
    func consent() {
        let request = ConsentRequest(
            sessionID: "ses_a", sessionEpoch: 2, userID: "usr_a", clientID: "cli_a",
            redirectURI: "https://app.example/cb", resource: "https://gate.example/mcp", scopes: ["a"], state: nil,
            challenge: "c")
        #expect(ConsentRequest(stored: request.stored) == request)
        #expect(request.wasAsked(of: "ses_a", epoch: 2, userID: "usr_a"))
        #expect(!request.wasAsked(of: "ses_b", epoch: 2, userID: "usr_a"))
        #expect(!request.wasAsked(of: "ses_a", epoch: 3, userID: "usr_a"))
        #expect(!request.wasAsked(of: "ses_a", epoch: 2, userID: "usr_b"))
        #expect(ConsentDecision(requestID: "r", decision: "allow", offline: "true")?.offline == true)
        #expect(ConsentDecision(requestID: "r", decision: "yes", offline: nil) == nil)
        #expect(ConsentDecision(requestID: nil, decision: "allow", offline: nil) == nil)
    }

    @Test("The field of a protocol session counts by the revision, and once")
    func protocolSession() {
        let id = Array("abc".utf8)
        func claim(_ ids: [[UInt8]], _ version: String?) -> ProtocolSession.Claim {
            ProtocolSession.claim(ids: ids, version: version.map { Array($0.utf8) })
        }
        #expect(claim([], nil) == .none)
        #expect(claim([id], nil) == .one(id))
        #expect(claim([id], "2025-11-25") == .one(id))
        #expect(claim([id, id], "2025-11-25") == .many)
        #expect(claim([[0x20]], nil) == .malformed)
        #expect(claim([Array(repeating: 0x61, count: 257)], nil) == .malformed)
        #expect(claim([id], "2026-07-28") == .ignored)
        #expect(claim([id, id], "2027-01-01") == .ignored)
        #expect(claim([id], "9999") == .one(id))
    }
}
