import Answers
import Encodings
import IdentityProviders

/// The query of `GET /api/auth/login/{provider}`.
struct LoginQuery: Sendable {
    /// Where the person wants to be afterwards; the root if nothing is said.
    let returnTo: ReturnTo
    /// What is passed on to the provider.
    let hints: LoginHints

    /// Reads a query. Parameters of other names are ignored.
    ///
    /// - Parameter query: without its question mark; nil for none, which is a query without parameters.
    /// - Throws: `invalid_request` for a parameter that is there twice or can't be passed on, and for a `return_to`
    ///   that is anything but a path of this origin with an optional query.
    init(_ query: String?) throws(Problem) {
        guard let parameters = FormText.decode(query ?? "") else { throw Self.refusal("The query", "query_malformed") }
        var values: [String: String] = [:]
        for name in ["return_to", "prompt", "login_hint", "max_age", "acr_values"] {
            let found = parameters.filter { $0.name.hasSameBytes(as: name) }
            guard found.count <= 1 else { throw Self.refusal("'\(name)' is there more than once, which", "repeated") }
            values[name] = found.first?.value
        }
        let returnTo = values["return_to"].map { ReturnTo($0) } ?? .root
        guard let returnTo else {
            throw Problem(
                .invalidRequest, detail: "'return_to' must be a path of this site, with an optional query.",
                reason: "return_to_refused")
        }
        var hints = LoginHints(
            prompt: values["prompt"], loginHint: values["login_hint"],
            acrValues: values["acr_values"]?.split(separator: " ").map(String.init) ?? [])
        if let text = values["max_age"] {
            guard let seconds = Int64(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw Self.refusal("'max_age'", "hint_refused")
            }
            hints.maximumAge = seconds
        }
        guard hints.isSound else {
            throw Self.refusal("One of prompt, login_hint, max_age and acr_values", "hint_refused")
        }
        self.returnTo = returnTo
        self.hints = hints
    }

    private static func refusal(_ what: String, _ reason: String) -> Problem {
        Problem(.invalidRequest, detail: "\(what) can't be used.", reason: reason)
    }
}
