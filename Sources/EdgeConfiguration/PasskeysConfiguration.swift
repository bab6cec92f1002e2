/// `passkeys.*`: how authenticators know the gateway.
public struct PasskeysConfiguration: Sendable, Equatable {
    /// `passkeys.rp_id`: the domain that passkeys are for: the host of `tokens.issuer`, or a domain above it. Nil for
    /// that host.
    public var rpID: String?

    /// The defaults.
    public init() {}
}

extension PasskeysConfiguration {
    /// Whether pages of an issuer may use passkeys of a domain (WebAuthn Level 3 §5.1.3): its host, or a domain above
    /// it of at least two labels. Browsers also refuse domains under which anyone can register, such as `co.uk`.
    ///
    /// - Parameters:
    ///   - domain: in lower case.
    ///   - issuer: `tokens.issuer`.
    package static func mayUse(_ domain: String, issuer: String) -> Bool {
        guard let mark = issuer.firstRange(of: "://") else { return false }
        let authority = issuer[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.prefix { $0 != ":" }.lowercased()
        let labels = Array(domain.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isNameByte) }) else { return false }
        if host.utf8.elementsEqual(domain.utf8) {
            return domain.utf8.elementsEqual("localhost".utf8) || !isAddress(labels)
        }
        guard labels.count > 1, !isAddress(labels) else { return false }
        return host.utf8.reversed().starts(with: ".\(domain)".utf8.reversed())
    }

    /// The last label of a name is never a number.
    private static func isAddress(_ labels: [ArraySlice<UInt8>]) -> Bool {
        labels.last?.allSatisfy { (0x30...0x39).contains($0) } ?? true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
