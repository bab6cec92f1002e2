/// Why an authorization request is answered with a page and not with a redirect: there is nowhere to redirect to.
package struct AuthorizationPageFault: Error, Sendable, Equatable {
    /// The kinds of fault.
    package enum Code: String, Sendable {
        case requestMalformed = "request_malformed"
        case clientUnknown = "client_unknown"
        case redirectRefused = "redirect_uri_refused"
    }
    /// The kind of fault.
    package let code: Code
    /// One sentence for the person: fixed text.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// Equality of the codes; details are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
