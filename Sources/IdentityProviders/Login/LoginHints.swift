/// What a sign-in may ask of the provider besides who it is.
package struct LoginHints: Sendable, Equatable {
    /// `prompt`: `none`, `login`, `consent` or `select_account`, or several with spaces between them.
    package var prompt: String?
    /// `login_hint`: what the person typed.
    package var loginHint: String?
    /// `max_age`: the most seconds since the person last proved who they are.
    package var maximumAge: Int64?
    /// `acr_values`: the strengths that are asked for, the preferred first.
    package var acrValues: [String]

    /// Creates hints; without arguments nothing is asked for.
    package init(prompt: String? = nil, loginHint: String? = nil, maximumAge: Int64? = nil, acrValues: [String] = []) {
        self.prompt = prompt
        self.loginHint = loginHint
        self.maximumAge = maximumAge
        self.acrValues = acrValues
    }

    /// Whether all of them can be sent on.
    package var isSound: Bool {
        let prompts = ["none", "login", "consent", "select_account"]
        let asked = prompt?.utf8.split(separator: 0x20, omittingEmptySubsequences: false) ?? []
        let arePrompts = asked.allSatisfy { word in prompts.contains { word.elementsEqual($0.utf8) } }
        // `none` stands alone (OpenID Connect Core 1.0 §3.1.2.1).
        let isAlone = asked.count < 2 || !asked.contains { $0.elementsEqual("none".utf8) }
        return arePrompts && isAlone && loginHint.map { $0.utf8.count <= 256 && !$0.hasControlCharacters } ?? true
            && maximumAge.map { (0...31_536_000).contains($0) } ?? true && acrValues.count <= 8
            && acrValues.allSatisfy {
                (1...256).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            }
    }
}
