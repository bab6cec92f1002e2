import Foundation
import HTTPWire
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
        #expect(identity.written().bytes.readableBytes == 0)
        identity.user = "usr_1"
        identity.scope = "a b"
        #expect(String(buffer: identity.written().bytes) == "X-Gatehouse-User: usr_1\r\nX-Gatehouse-Scope: a b\r\n")
    }

    @Test(
        "What an account says arrives as it is: all but printable ASCII, percent signs and outer spaces is encoded",
        arguments: [
            ("ada@example.com", "ada@example.com"), ("Ada Lovelace", "Ada Lovelace"),
            ("Ada L\u{f6}velace", "Ada L%C3%B6velace"), (" a ", "%20a%20"), (" ", "%20"), ("50%", "50%25"),
            ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("a\0\u{7f}", "a%00%7F"), ("a,b", "a,b"), ("~!\"", "~!\""),
            ("", ""),
            ("\u{1f600}", "%F0%9F%98%80"),
        ])
    func account(value: String, written: String) {
        #expect(ForwardedIdentity.encoded(value) == written)
        #expect(written.removingPercentEncoding == value)
    }

    @Test("Groups are a list whose separator no group can hold")
    func groups() {
        var identity = ForwardedIdentity()
        identity.email = "a@b.example"
        identity.name = "Zo\u{eb}"
        identity.groups = ["staff", "a,b", " c", "d%2Ce"]
        #expect(
            String(buffer: identity.written().bytes)
                == "X-Gatehouse-Email: a@b.example\r\nX-Gatehouse-Name: Zo%C3%AB\r\n"
                + "X-Gatehouse-Groups: staff,a%2Cb,%20c,d%252Ce\r\n")
    }

    @Test(
        "A query value keeps unreserved characters and slashes alone",
        arguments: [("/a/b", "/a/b"), ("/a?x=1&y", "/a%3Fx%3D1%26y"), ("//e", "//e"), ("a b", "a%20b")])
    func queryValue(value: String, encoded: String) { #expect(ForwardedIdentity.queryValue(value) == encoded) }
}
