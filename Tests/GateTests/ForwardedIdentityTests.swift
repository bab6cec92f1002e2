import NIOCore
import Testing

@testable import Gate

@Suite struct ForwardedIdentityTests {
    @Test(
        "A claim can never end a line, nor be taken for another",
        arguments: [
            ("ada", "ada"), ("a b", "a b"), (" a", "%20a"), ("a ", "a%20"), ("a\r\nX: y", "a%0D%0AX:%20y"),
            ("\u{e9}", "%C3%A9"), ("100%", "100%25"),
            ("<script>", "<script>"), ("a\0", "a%00"), ("", ""), ("%0d", "%250d"), ("a\tb", "a%09b"),
        ])
    func safe(value: String, written: String) { #expect(ForwardedIdentity.safe(value) == written) }

    @Test("Only what is known is written, each on a line of its own")
    func fields() {
        var identity = ForwardedIdentity()
        #expect(identity.written().readableBytes == 0)
        identity.user = "usr_1"
        identity.scope = "a b"
        #expect(String(buffer: identity.written()) == "X-Gatehouse-User: usr_1\r\nX-Gatehouse-Scope: a b\r\n")
    }

    @Test(
        "A query value keeps unreserved characters and slashes alone",
        arguments: [("/a/b", "/a/b"), ("/a?x=1&y", "/a%3Fx%3D1%26y"), ("//e", "//e"), ("a b", "a%20b")])
    func queryValue(value: String, encoded: String) { #expect(ForwardedIdentity.queryValue(value) == encoded) }
}
