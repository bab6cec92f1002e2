/// Who may register. Given with each registration, so that a reload opens and closes registration.
package struct RegistrationTerms: Sendable {
    /// `accounts.registration`: whether anyone may register.
    package var isOpen: Bool
    /// `accounts.registration_tenants`: the tenants in which users may register. If empty, each user gets a tenant of
    /// their own.
    package var tenants: [String]

    package init(isOpen: Bool, tenants: [String] = []) {
        self.isOpen = isOpen
        self.tenants = tenants
    }
}
