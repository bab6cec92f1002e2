import Answers

/// A member that a JSON body may have, and what its value must be.
struct BodyMember: Sendable {
    /// The kinds of value.
    enum Form: Sendable {
        /// Whatever; the endpoint judges it.
        case anything
        /// A string, if the member is there.
        case string
        /// A string; the member must be there.
        case requiredString
        /// A string, if the member is there, and not one that is shaped like another credential.
        case credential(CredentialShape)
        /// True or false, if the member is there.
        case bool
        /// An object, if the member is there.
        case object
        /// `"body"`, if the member is there.
        case delivery
        /// A list of strings; the member must be there.
        case requiredStrings
        /// A whole number; the member must be there.
        case requiredInteger
    }

    /// The name, compared byte for byte.
    let name: String
    /// What the value must be.
    let form: Form

    /// `deliver`: how secrets are returned.
    static let deliver = BodyMember(name: "deliver", form: .delivery)

    /// A member that the endpoint judges itself.
    static func anything(_ name: String) -> BodyMember { BodyMember(name: name, form: .anything) }
    /// A string, which may be absent.
    static func string(_ name: String) -> BodyMember { BodyMember(name: name, form: .string) }
    /// A string that is needed.
    static func required(_ name: String) -> BodyMember { BodyMember(name: name, form: .requiredString) }
    /// A credential or an id, which may be absent.
    static func credential(_ name: String, _ shape: CredentialShape) -> BodyMember {
        BodyMember(name: name, form: .credential(shape))
    }
    /// A Boolean, which may be absent.
    static func bool(_ name: String) -> BodyMember { BodyMember(name: name, form: .bool) }
    /// An object, which may be absent.
    static func object(_ name: String) -> BodyMember { BodyMember(name: name, form: .object) }
    /// A list of strings that is needed.
    static func requiredStrings(_ name: String) -> BodyMember { BodyMember(name: name, form: .requiredStrings) }
    /// A whole number that is needed.
    static func requiredInteger(_ name: String) -> BodyMember { BodyMember(name: name, form: .requiredInteger) }
}
