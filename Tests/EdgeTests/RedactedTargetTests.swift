import Answers
import Testing

@testable import Edge

@Suite("Targets as logs show them") struct RedactedTargetTests {
    private static let id = "ses_" + String(repeating: "A", count: 22)
    private static let jws = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl"

    private static func path(_ text: String) -> String {
        String(decoding: RedactedTarget.redacted(path: Array(text.utf8)), as: UTF8.self)
    }

    private static func query(_ text: String) -> String {
        String(decoding: RedactedTarget.redacted(query: Array(text.utf8)), as: UTF8.self)
    }

    @Test(
        "Paths without ids and credentials stay as they were sent",
        arguments: [
            "/", "/orders/17", "/a_b/c%20d", "/seyJ/x", "/session_id", "/a%2Fb", "/eyJ.a", "/ses_",
            "/code_redirect_mismatch",
        ])
    func plainPaths(path: String) {
        #expect(Self.path(path) == path)
    }

    @Test(
        "Ids, tokens and tickets in a path are cut to eight characters",
        arguments: [
            ("/api/session/\(id)", "/api/session/ses_AAAA…"), ("/x/\(id)/ticket", "/x/ses_AAAA…/ticket"),
            ("/x/\(jws)/y", "/x/eyJhbGci…/y"), ("/x/tkt_0123456789", "/x/tkt_0123…"),
            ("/x/a-ref_0123456789", "/x/a-ref_0123…"), ("/x/%73es_AAAAAAAAAA", "/x/ses_AAAA…"),
            ("/x/sec%5F0123456789;v=\(id)", "/x/sec_0123…;v=ses_AAAA…"), ("/x/bearer.\(jws)", "/x/bearer.eyJhbGci…"),
            ("/x/x-\(jws)", "/x/x-eyJhbGci…"), ("/x/%2573es_AAAAAAAAAA", "/x/ses_AAAA…"),
            ("/x/Bearer%20\(jws)", "/x/Bearer eyJhbGci…"),
        ])
    func secretPaths(path: String, shown: String) {
        #expect(Self.path(path) == shown)
    }

    @Test("Each kind of credential that the gateway issues is cut", arguments: CredentialPrefix.all)
    func issuedSecrets(prefix: CredentialPrefix) {
        let credential = String(decoding: prefix.bytes, as: UTF8.self) + String(repeating: "A1b-", count: 11)
        #expect(Self.path("/x/\(credential)/y") == "/x/\(credential.prefix(8))…/y")
        #expect(Self.query("a=1&q=x-\(credential)") == "a=1&q=x-\(credential.prefix(8))…")
    }

    @Test("A long path is cut behind its beginning")
    func longPaths() {
        let long = "/" + String(repeating: "a", count: 511)
        #expect(RedactedTarget.text(of: Array(long.utf8)) == long)
        #expect(RedactedTarget.text(of: Array((long + "b").utf8)) == long + "…")
    }

    @Test(
        "The values of parameters that carry credentials are cut, whatever they look like",
        arguments: [
            ("access_token=opaque-value-1&x=1", "access_token=opaque-v…&x=1"),
            ("ACCESS_TOKEN=abcdefghij", "ACCESS_TOKEN=abcdefgh…"),
            ("access%5Ftoken=abcdefghij", "access%5Ftoken=abcdefgh…"), ("ticket=short", "ticket=…"),
            ("code=abcdefghijkl&state=mnopqrstuvw", "code=abcdefgh…&state=mnopqrst…"), ("ticket=", "ticket="),
            ("authorization=Bearer%20\(jws)", "authorization=Bearer e…"),
            ("access_token+=opaque-value", "access_token+=opaque-v…"),
            ("%20access_token=opaque-value", "%20access_token=opaque-v…"),
            ("x[access_token]=opaque-value", "x[access_token]=opaque-v…"),
            ("a;access_token=opaque-value", "a;access_token=opaque-v…"),
            ("access_token=%61%62%63%64%65%66%67%68%69", "access_token=abcdefgh…"),
        ])
    func parameters(query: String, shown: String) {
        #expect(Self.query(query) == shown)
    }

    @Test(
        "Other parameters are cut only where they hold a credential",
        arguments: [
            ("page=2&sort=name", "page=2&sort=name"), ("q=\(jws)", "q=eyJhbGci…"), ("x&y=", "x&y="),
            ("to=/s/\(id)", "to=/s/ses_AAAA…"), ("a=%22\(jws)%22", "a=\"eyJhbGci…\""),
            ("return_to=%2Fcb%3Faccess_token%3D\(jws)", "return_to=/cb?access_token=eyJhbGci…"),
            ("q=eyAi\(jws.dropFirst(3))", "q=eyAihbGc…"), ("\(id)", "ses_AAAA…"), ("&&a=b&", "&&a=b&"),
        ])
    func otherParameters(query: String, shown: String) {
        #expect(Self.query(query) == shown)
    }
}
