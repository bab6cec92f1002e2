import Foundation
import Testing

/// Bad access tokens through `GET /api/auth/me`: one answer for all of them, byte for byte.
@Suite(.blocking) struct TokenFaultTests {
    private static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    /// A good token's three segments, and the means to make others.
    private struct Forge {
        let gateway: any GatewayUnderTest
        let user: LoggedIn
        let parts: [String]
        let keyID: String

        init(_ gateway: any GatewayUnderTest) throws {
            self.gateway = gateway
            user = try gateway.login(.ada)
            parts = user.token.components(separatedBy: ".")
            let keys = try gateway.request("GET", "/.well-known/jwks.json").json["keys"] as? [[String: Any]]
            keyID = try #require(keys?.first?["kid"] as? String)
        }

        /// The good payload and signature under another header.
        func header(_ json: String, signature: String? = nil) -> String {
            "\(base64URL(json)).\(parts[1]).\(signature ?? parts[2])"
        }

        /// Signed with the gateway's own key, so that only the claim in question can be the fault.
        func signed(_ claims: [String] = [], _ more: [String] = []) throws -> String {
            var arguments = [
                "token", "issue", "--subject", user.userID, "--tenant", "acme", "--issuer", gateway.origin,
            ]
            arguments += claims.flatMap { ["--claim", $0] } + more
            let issued = try GatewayProcess.run(arguments, in: gateway.directory, stateful: false)
            #expect(issued.status == 0, "\(issued.errors)")
            return issued.output.trimmingCharacters(in: .newlines)
        }
    }

    /// Checks that every one of them is refused with the very same bytes, and that the good token still is good.
    private static func expectOneRefusal(_ tokens: [String], _ forge: Forge) throws {
        let reference = try forge.gateway.me("x")
        expectRefused(reference, 401, "invalid_token")
        #expect(reference["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
        for token in tokens {
            let answer = try forge.gateway.me(token)
            #expect(answer.comparable == reference.comparable, "\(token.prefix(400)): \(answer.text.prefix(200))")
        }
        #expect(try forge.gateway.isHealthy(forge.user.token))
    }

    @Test("Headers that ask for less, for another algorithm or for another key")
    func headers() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let forge = try Forge(gateway)
        var tokens = [String]()
        for algorithm in [#""none""#, #""None""#, #""nOnE""#, #""no\u006ee""#, #""none ""#, #""""#, "null", "0", "[]"] {
            let json = #"{"alg":\#(algorithm),"typ":"at+jwt","kid":"\#(forge.keyID)"}"#
            tokens += [forge.header(json), forge.header(json, signature: "")]
        }
        for algorithm in ["ES384", "ES512", "RS256", "PS256", "HS256", "EdDSA", "Ed25519", "es256", "ES256K"] {
            tokens.append(forge.header(#"{"alg":"\#(algorithm)","typ":"at+jwt","kid":"\#(forge.keyID)"}"#))
        }
        for keyID in [#""""#, #""unknown""#, #""../../dev/null""#, #""a\u0000b""#, "1", "null", #"["x"]"#] {
            tokens.append(forge.header(#"{"alg":"ES256","typ":"at+jwt","kid":\#(keyID)}"#))
        }
        tokens += [
            forge.header(#"{"alg":"ES256","alg":"none","typ":"at+jwt"}"#), forge.header("[]"), forge.header("null"),
            forge.header(#"{"alg":"ES256","jku":"http://127.0.0.1:9/","typ":"at+jwt"}"#),
            forge.header(#"{"typ":"at+jwt"}"#),
            forge.header(#"{"alg":"ES256","jwk":{"kty":"oct","k":"AA"},"typ":"at+jwt"}"#),
            forge.header(#"{"alg":"ES256","crit":["exp"],"exp":1,"typ":"at+jwt"}"#),
        ]
        try Self.expectOneRefusal(tokens, forge)
    }

    @Test("Texts that are no compact JWS, and signatures that are none")
    func forms() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let forge = try Forge(gateway)
        let good = forge.user.token
        let (h, p, s) = (forge.parts[0], forge.parts[1], forge.parts[2])
        let zeros = String(repeating: "A", count: 86)
        var tokens = [
            "x", "a.b", "a.b.c", "....", ".\(good)", "\(good).", "\(good).x.y", "\(h).\(p)", "\(h).\(p).", "\(good)=",
            "\(h)=.\(p).\(s)", "\(h).\(p) .\(s)", "\(h). \(p).\(s)", String(good.dropLast()), String(good.dropLast(4)),
            "\(h).\(p).\(zeros)", "\(h).\(p).AA", "\(h).\(p).MAYCAQACAQA", "\(h).\(p).MAA", "\(h).\(p).\(s)AA",
            "\(h).\(p).\(s)\(s)", "\(h).\(p).\(String(repeating: "A", count: 4000))", "\(h)..\(s)", "\(p).\(h).\(s)",
            String(repeating: "a.", count: 1000),
        ]
        // The last character of 64 bytes holds 4 bits that must be zero: another one means the same bytes.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        if let last = s.last, let place = alphabet.firstIndex(of: last) {
            tokens.append("\(h).\(p).\(s.dropLast())\(alphabet[place ^ 1])")
        }
        try Self.expectOneRefusal(tokens, forge)
        let long = try gateway.me(String(repeating: "a", count: 9000))
        #expect([401, 431].contains(long.status), "\(long.text)")
        expectStatus(try gateway.request("GET", "/api/auth/me", headers: [("Authorization", "bearer \(good)")]), 200)
    }

    @Test("Rightly signed tokens with one wrong claim")
    func claims() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let forge = try Forge(gateway)
        #expect(try gateway.isHealthy(try forge.signed()), "the control: nothing is wrong with it")
        let future = Int(Date().timeIntervalSince1970) + 3600
        let wrong = [
            #"exp="9999999999""#, "exp=null", "exp=true", "exp=[]", "exp=-1", "exp=1e309", "exp=18446744073709551616",
            "exp=9999999999", "nbf=\(future)", #"nbf="1""#, "nbf=null", "iat=\(future)", #"iat="1""#, "aud=[]",
            #"aud=[["gatehouse"]]"#, #"aud="gatehouse/""#, #"aud="Gatehouse""#, "aud=1", "aud=null",
            #"iss="\#(gateway.origin)/""#, #"iss=["\#(gateway.origin)"]"#, "iss=null", "sub=null", #"sub="""#,
            #"sub=["x"]"#, #"sub="usr_a\r\nX-Y: z""#, "jti=1", "client_id=null", "tenant_id=1", "tenant_id=null",
            "scope=1", "fid=1",
        ]
        var tokens = try wrong.map { try forge.signed([$0]) }
        for type in ["JWT", "gatehouse-assertion+jwt", "logout+jwt", "refresh", "at+jwt "] {
            tokens.append(try forge.signed([], ["--type", type]))
        }
        try Self.expectOneRefusal(tokens, forge)
        for claim in [#"aud=["x","gatehouse"]"#, "z=-0", "z=1E+2"] {
            expectStatus(try gateway.me(try forge.signed([claim])), 200, claim)
        }
        expectStatus(try gateway.me(try forge.signed([], ["--type", "application/at+jwt"])), 200)
    }

    @Test("Only a token with no other fault is told that it has expired")
    func expired() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let forge = try Forge(gateway)
        let now = Int(Date().timeIntervalSince1970)
        let old = ["exp=\(now - 100)", "iat=\(now - 500)", "nbf=\(now - 500)"]
        let answer = try gateway.me(try forge.signed(old))
        expectRefused(answer, 401, "token_expired")
        #expect(answer["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
        try Self.expectOneRefusal([try forge.signed(old + [#"aud="x""#]), try forge.signed(old + ["sub=1"])], forge)
        let justNow = Int(Date().timeIntervalSince1970)
        expectStatus(
            try gateway.me(try forge.signed(["exp=\(justNow - 5)"] + old.dropFirst())), 200, "within tokens.clock_skew")
    }
}
