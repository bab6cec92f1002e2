/// Which addresses a request may be made to.
///
/// A URL from the configuration or from a document of a provider names a host; what it resolves to is asked here for
/// each address, and the connection is made to the address that was asked about, so that a second answer of DNS changes
/// nothing.
package struct AddressGuard: Sendable, Equatable {
    /// Whether networks of one's own, links and this machine may be reached (`allow_private: true`).
    package let allowsPrivate: Bool
    /// Whether this machine may be reached: so for a provider whose issuer is on loopback.
    package let allowsLoopback: Bool

    package init(allowsPrivate: Bool = false, allowsLoopback: Bool = false) {
        self.allowsPrivate = allowsPrivate
        self.allowsLoopback = allowsLoopback
    }

    /// Whether a connection may be made to an address.
    package func allows(_ address: IPAddress) -> Bool {
        switch address.reach {
        case .global: true
        case .loopback: allowsPrivate || allowsLoopback
        case .linkLocal, .privateUse: allowsPrivate
        case .reserved: false
        }
    }
}
