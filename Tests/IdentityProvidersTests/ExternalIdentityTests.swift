import Encodings
import Testing

@testable import IdentityProviders

@Suite("An external identity")
struct ExternalIdentityTests {
    private let claims: JSONObject = [
        "sub": "person-1", "email": "ada@example.com", "email_verified": true, "groups": ["staff"],
        "realm_access": ["roles": ["operator"]], "realm_access.roles": ["whole"], "tid": "acme", "level": 3,
        "scp": "read write",
    ]

    private func read(_ edit: (inout ProviderConfiguration) -> Void) -> Result<ExternalIdentity, IdentityRefusal> {
        read(claims, edit)
    }

    private func read(
        _ claims: JSONObject, _ edit: (inout ProviderConfiguration) -> Void
    ) -> Result<ExternalIdentity, IdentityRefusal> {
        var provider = Script.openID
        edit(&provider)
        return ExternalIdentity.read(claims, of: provider)
    }

    private func refusal(_ edit: (inout ProviderConfiguration) -> Void) -> IdentityRefusal? {
        if case .failure(let refusal) = read(edit) { refusal } else { nil }
    }

    @Test("A claim that exists as a whole wins over descending") func names() throws {
        #expect(try read { $0.claims.groups = "realm_access.roles" }.get().groups == ["whole"])
        var claims = claims
        claims["realm_access.roles"] = nil
        #expect(try read(claims) { $0.claims.groups = "realm_access.roles" }.get().groups == ["operator"])
        #expect(try read(claims) { $0.claims.groups = "realm_access.roles.more" }.get().groups == [])
        #expect(try read(claims) { $0.claims.groups = "realm_access..roles" }.get().groups == [])
        #expect(try read(claims) { $0.claims.scope = "scp" }.get().scopes == ["read", "write"])
    }

    @Test("Only listed values of the tenant claim are believed") func tenants() throws {
        #expect(try read { $0.tenancy = .fixed("umbrella") }.get().tenant == "umbrella")
        #expect(try read { $0.tenancy = .claim("tid", values: ["other", "acme"]) }.get().tenant == "acme")
        #expect(refusal { $0.tenancy = .claim("tid", values: ["other"]) } == .tenantNotListed)
        #expect(refusal { $0.tenancy = .claim("tid", values: []) } == .tenantNotListed)
        #expect(refusal { $0.tenancy = .claim("missing", values: ["acme"]) } == .tenantNotListed)
        #expect(refusal { $0.tenancy = .claim("groups", values: ["staff"]) } == .tenantNotListed)
    }

    @Test(
        "E-mail domains compare without case and as a whole",
        arguments: [
            ("example.com", true), ("EXAMPLE.com", true), ("ample.com", false), ("com", false),
            ("sub.example.com", false), ("example.com.evil", false), ("", false),
        ])
    func domains(domain: String, isAllowed: Bool) {
        let refusal = refusal { $0.allowed.emailDomains = ["other.example", domain] }
        #expect(refusal == (isAllowed ? nil : .emailDomainNotAllowed))
    }

    @Test("An address that the provider did not verify counts for no rule") func unverified() throws {
        for value: JSONValue in [false, "false", 1, "true", "TRUE", .null, []] {
            var claims = claims
            claims["email_verified"] = value
            let identity = try read(claims) { _ in }.get()
            #expect(identity.email == "ada@example.com" && !identity.isEmailVerified)
            guard case .failure(.emailNotVerified) = read(claims, { $0.allowed.emailDomains = ["example.com"] }) else {
                Issue.record("\(value) was taken for true")
                continue
            }
            #expect(try read(claims) { $0.trustEmail = true }.get().isEmailVerified)
        }
        #expect(try read(claims) { _ in }.get().isEmailVerified)
    }

    @Test("email_verified speaks of no claim but email") func otherClaim() throws {
        var claims = claims
        claims["upn"] = "boss@example.com"
        let identity = try read(claims) { $0.claims.email = "upn" }.get()
        #expect(identity.email == "boss@example.com" && !identity.isEmailVerified)
    }

    @Test("email_verified of userinfo does not verify another address of the ID token") func userInfoEmail()
        async throws
    {
        var script = try Script()
        script.configuration.asksUserInfo = true
        script.claims["email_verified"] = nil
        script.userInfo["email"] = "mine@example.com"
        script.userInfo["email_verified"] = true
        guard case .identified(let identity, _) = try await World(script).signIn() else {
            Issue.record("no user was signed in")
            return
        }
        #expect(identity.email == "ada@example.com" && !identity.isEmailVerified)
        script.userInfo["email"] = "ada@example.com"
        guard case .identified(let same, _) = try await World(script).signIn() else {
            Issue.record("no user was signed in")
            return
        }
        #expect(same.isEmailVerified)
    }

    @Test("Userinfo adds claims and changes none of the ID token") func userInfo() async throws {
        var script = try Script()
        script.configuration.asksUserInfo = true
        script.configuration.claims.groups = "department"
        script.userInfo["name"] = "Mallory"
        script.claims["acr"] = nil
        script.userInfo["acr"] = "phr"
        guard case .identified(let identity, _) = try await World(script).signIn() else {
            Issue.record("no user was signed in")
            return
        }
        #expect(identity.name == "Ada" && identity.groups == ["engines"] && identity.acr == nil)
    }

    @Test("All rules that are given must match, and of each list one entry") func allowed() {
        #expect(refusal { $0.allowed.groups = ["admins", "staff"] } == nil)
        #expect(refusal { $0.allowed.groups = ["Staff"] } == .groupNotAllowed)
        #expect(refusal { $0.allowed.claims = [("level", ["1", "3"]), ("tid", ["acme"])] } == nil)
        #expect(refusal { $0.allowed.claims = [("level", ["1", "3"]), ("tid", ["other"])] } == .claimNotAllowed)
        #expect(refusal { $0.allowed.claims = [("missing", [""])] } == .claimNotAllowed)
        #expect(
            refusal {
                $0.allowed.emailDomains = ["example.com"]
                $0.allowed.groups = ["admins"]
            } == .groupNotAllowed)
    }

    @Test("Groups that are too many, too long or kept back are left out, and that is said") func groups() throws {
        var claims = claims
        claims["groups"] = .array((0..<101).map { .string("g\($0)") })
        let many = try read(claims) { _ in }.get()
        #expect(many.groups.count == 100 && many.leftGroupsOut)
        claims["groups"] = [.string(String(repeating: "g", count: 129)), "a\nb", "", "good", 7]
        let odd = try read(claims) { _ in }.get()
        #expect(odd.groups == ["good", "7"] && odd.leftGroupsOut)
        claims["groups"] = nil
        claims["_claim_names"] = ["groups": "src1"]
        #expect(try read(claims) { _ in }.get().leftGroupsOut)
        #expect(try read { _ in }.get().leftGroupsOut == false)
    }

    @Test(
        "What is no address, name or label is left out",
        arguments: ["a@b@c", "@b", "a@", "a b@c", "a\n@c", "ab", String(repeating: "a", count: 254) + "@b"])
    func email(text: String) throws {
        var claims = claims
        claims["email"] = .string(text)
        claims["name"] = "a\u{1B}[2J"
        claims["acr"] = ["phr"]
        let identity = try read(claims) { _ in }.get()
        #expect(identity.email == nil && !identity.isEmailVerified && identity.name == nil && identity.acr == nil)
    }
}
