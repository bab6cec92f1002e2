import OAuth
import SignIn
import StateSurface
import Testing

private let own = "https://api.example/mcp"

@Suite("What a refresh may ask for: no wider scope than its family's, and no other resource")
struct RefreshTermsTests {
    private func family(_ resource: String?) -> FamilyRecord {
        FamilyRecord(
            id: "fam", tenantID: "acme", userID: "usr_a", clientID: "cli_a", scope: ["read", "write"], binding: nil,
            createdAt: 0, absoluteExpiresAt: 1, currentHash: [], resource: resource)
    }

    private func fault(_ terms: RefreshTerms, _ resource: String?) -> OAuthFault? {
        do {
            try terms.check(family(resource))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The refresh token of a login is for no resource",
        arguments: [
            (RefreshTerms(), nil), (RefreshTerms(scope: "read"), nil), (RefreshTerms(scope: "write read"), nil),
            (RefreshTerms(resources: [""]), nil), (RefreshTerms(scope: "read", resources: ["", ""]), nil),
            (RefreshTerms(scope: "admin"), .invalidScope), (RefreshTerms(scope: "a\"b"), .invalidScope),
            (RefreshTerms(resources: [own]), .invalidTarget), (RefreshTerms(resources: [own, own]), .invalidTarget),
            // The scope is judged first.
            (RefreshTerms(scope: "admin", resources: [own]), .invalidScope),
        ] as [(RefreshTerms, OAuthFault.Code?)])
    func login(_ terms: RefreshTerms, _ expected: OAuthFault.Code?) {
        #expect(fault(terms, nil)?.code == expected)
    }

    @Test(
        "That of a grant is for its resource alone, which may be left out",
        arguments: [
            (RefreshTerms(), nil), (RefreshTerms(scope: "read"), nil), (RefreshTerms(resources: [own]), nil),
            (RefreshTerms(resources: ["https://API.example/mcp"]), nil), (RefreshTerms(resources: [""]), nil),
            (RefreshTerms(resources: ["https://api.example/other"]), .invalidTarget),
            (RefreshTerms(resources: ["mcp"]), .invalidTarget),
            (RefreshTerms(resources: [own, own]), .invalidRequest),
            (RefreshTerms(scope: "read", resources: ["", ""]), .invalidRequest),
            (RefreshTerms(scope: "admin", resources: [own, own]), .invalidScope),
        ] as [(RefreshTerms, OAuthFault.Code?)])
    func grant(_ terms: RefreshTerms, _ expected: OAuthFault.Code?) {
        #expect(fault(terms, own)?.code == expected)
    }
}
