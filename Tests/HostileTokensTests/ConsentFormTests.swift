import Testing

@testable import HostileTokens

@Suite("Answers of authorization servers") struct ConsentFormTests {
    private static func page(_ text: String) -> RawResponse { RawResponse(status: 200, body: Array(text.utf8)) }

    @Test("The first form of a page is read: where it goes, and its hidden fields")
    func form() throws {
        let form = try #require(
            ConsentForm(
                Self.page(
                    """
                    <html><form class="x" action="/go?a=1&amp;b=2"><input type="hidden" name="request" value="r&quot;1">
                    <input type="checkbox" name="offline" value="true"><input type="hidden" name="csrf" value="">
                    </form><form><input type="hidden" name="other" value="x"></form>
                    """)))
        #expect(form.action == "/go?a=1&b=2")
        #expect(form.fields.map(\.name) == ["request", "csrf"] && form.fields.map(\.value) == ["r\"1", ""])
    }

    @Test(
        "A page without a whole form with hidden fields asks nothing",
        arguments: [
            "", "<form>", "<form></form>", "<form><input name=\"a\" value=\"b\"></form>", "<input type=\"hidden\">",
        ])
    func noForm(text: String) {
        #expect(ConsentForm(Self.page(text)) == nil)
    }

    @Test(
        "A code is one that a redirect carries, in its query",
        arguments: [
            ("https://c.example/cb?code=abc&state=x", true), ("https://c.example/cb?state=x&code=abc", true),
            ("https://c.example/cb?code=&state=x", false), ("https://c.example/cb?error=access_denied", false),
            ("https://c.example/cb#code=abc", false), ("https://c.example/code=abc", false),
        ])
    func codes(location: String, isCode: Bool) {
        let answer = RawResponse(status: 303, fields: [("Location", location)])
        let found = if case .code = AuthorizationOutcome(answer) { true } else { false }
        #expect(found == isCode)
        #expect(AuthorizationOutcome(answer).judged("x").verdict == (isCode ? .failed : .passed))
    }

    @Test("A page that asks is a finding, an error page and an ended connection are none")
    func judged() {
        let asks = Self.page("<form><input type=\"hidden\" name=\"a\" value=\"b\"></form>")
        #expect(AuthorizationOutcome(asks).judged("x").verdict == .failed)
        #expect(AuthorizationOutcome(RawResponse(status: 400)).judged("x").verdict == .passed)
        #expect(AuthorizationOutcome(nil).judged("x").verdict == .passed)
    }

    @Test("Percent-encoding reads back", arguments: ["https://a.example/b?c=d&e", "ä%+ \u{0}", ""])
    func encoding(text: String) {
        let bytes = Array(text.utf8)
        #expect(PercentEncoding.decode(PercentEncoding.encode(bytes)) == bytes)
    }

    @Test(
        "Only two hexadecimal digits are an encoded byte",
        arguments: [("%+5%-1", "%+5%-1"), ("%4a%4A", "JJ"), ("%4", "%4"), ("%%41", "%A"), ("%4g", "%4g")])
    func decoding(text: String, read: String) {
        #expect(PercentEncoding.decode(Array(text.utf8)) == Array(read.utf8))
    }

    @Test("A code that is percent-encoded in the redirect is redeemed as it was meant")
    func encodedCode() {
        let answer = RawResponse(status: 303, fields: [("Location", "https://c.example/cb?code=a%2Fb%2B%3d&iss=x%2Fy")])
        guard case .code(let code, location: let location) = AuthorizationOutcome(answer) else {
            Issue.record("no code")
            return
        }
        #expect(code == "a/b+=")
        #expect(QueryText.form([("code", code)]) == "code=a%2Fb%2B%3D")
        #expect(QueryText.value("iss", inURL: location) == "x/y")
    }
}
