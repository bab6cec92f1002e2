import Encodings

/// What a person decided on the consent page.
package struct ConsentDecision: Sendable, Equatable {
    /// The value of the form's hidden field.
    package let requestID: String
    /// Whether access was granted.
    package let allows: Bool
    /// Whether the client may keep its access when the person signs out.
    package let offline: Bool

    /// Reads the fields of the form; nil unless `decision` is `allow` or `deny`.
    package init?(requestID: String?, decision: String?, offline: String?) {
        guard let requestID, let decision else { return nil }
        switch decision {
        case "allow": allows = true
        case "deny": allows = false
        default: return nil
        }
        self.requestID = requestID
        self.offline = offline?.hasSameBytes(as: "true") == true
    }
}
