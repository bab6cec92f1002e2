/// The sign-in that a request needs and does not have (RFC 9470).
package struct StepUp: Sendable, Equatable {
    /// How long ago it may have been, in seconds; nil for any time.
    package let maxAge: Int64?
    /// The authentication context classes of which it must have one; empty for any.
    package let contextClasses: [String]

    /// A sign-in of these properties.
    package init(maxAge: Int64?, contextClasses: [String]) {
        self.maxAge = maxAge
        self.contextClasses = contextClasses
    }

    /// The parameters of the challenge, which those of an authorization request have the names of.
    package var parameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        if let maxAge { parameters.append(("max_age", String(maxAge))) }
        if !contextClasses.isEmpty { parameters.append(("acr_values", contextClasses.joined(separator: " "))) }
        return parameters
    }

    /// The parameters as they are written in a challenge. Context classes are plain names, which the configuration
    /// checks.
    var challenge: String {
        ", error=\"insufficient_user_authentication\"" + parameters.map { ", \($0.name)=\"\($0.value)\"" }.joined()
    }
}

extension Problem {
    /// The refusal of a request whose caller has to sign in again. Its code is `not_allowed` and its status 401, with
    /// `error="insufficient_user_authentication"` in the challenge (RFC 9470 section 3).
    package init(_ stepUp: StepUp, reason: String) {
        self.init(.notAllowed, .stepUp, detail: "Sign in again, and try again with the new token.", reason: reason)
        self.stepUp = stepUp
    }
}
