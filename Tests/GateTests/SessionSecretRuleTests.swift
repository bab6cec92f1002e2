import Answers
import Testing

@Suite("Which session secret of a request counts, for both planes")
struct SessionSecretRuleTests {
    /// The carrier of the secret that counts, or the code of the refusal.
    private func outcome(_ header: String?, _ cookie: String?, cookieIsLive: Bool) -> String {
        let rule = SessionSecretRule(header: header.map { Array($0.utf8) }, cookie: cookie.map { Array($0.utf8) })
        do {
            switch try rule.carrier(cookieIsLive: cookieIsLive) {
            case nil: return "none"
            case .header?: return "header"
            case .cookie?: return "cookie"
            }
        } catch {
            return error.code.rawValue
        }
    }

    @Test(
        "A live cookie beside a different header is refused, a dead one is passed over",
        arguments: [
            (nil, nil, "none", "none"), ("", "", "none", "none"), (nil, "a", "cookie", "cookie"),
            ("", "a", "header", "invalid_request"), ("", nil, "none", "none"), ("a", nil, "header", "header"),
            ("a", "", "header", "header"),
            ("a", "a", "header", "header"), ("a", "b", "header", "invalid_request"),
            // The same text to Swift, and other bytes.
            ("\u{E9}", "e\u{301}", "header", "invalid_request"),
        ] as [(String?, String?, String, String)])
    func choice(_ header: String?, _ cookie: String?, _ dead: String, _ live: String) {
        #expect(outcome(header, cookie, cookieIsLive: false) == dead)
        #expect(outcome(header, cookie, cookieIsLive: true) == live)
        let rule = SessionSecretRule(header: header.map { Array($0.utf8) }, cookie: cookie.map { Array($0.utf8) })
        // The store is asked only where its answer matters.
        #expect(rule.asksCookie == (dead != live))
    }

    @Test(
        "Only a cookie that opens no live session counts as none",
        arguments: [
            (nil, false, false), (SessionSecretRule.Carrier.header, false, true), (.header, true, true),
            (.cookie, false, false), (.cookie, true, true),
        ] as [(SessionSecretRule.Carrier?, Bool, Bool)])
    func counting(_ carrier: SessionSecretRule.Carrier?, _ isLive: Bool, _ counts: Bool) {
        #expect(SessionSecretRule.counts(carrier, isLive: isLive) == counts)
        let code = SessionSecretRule.refusal(of: carrier, isLive: isLive).code
        #expect(code == (counts ? .sessionMismatch : .credentialsMissing))
    }
}
