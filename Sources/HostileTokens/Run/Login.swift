/// A user who can sign in.
public struct Login: Sendable {
    /// The path of the login endpoint.
    public let path: String
    /// The e-mail.
    public let email: String
    /// The password. Secret.
    public let password: String
    /// The tenant; nil if the target has none.
    public let tenant: String?

    /// A user.
    public init(path: String, email: String, password: String, tenant: String? = nil) {
        self.path = path
        self.email = email
        self.password = password
        self.tenant = tenant
    }
}
