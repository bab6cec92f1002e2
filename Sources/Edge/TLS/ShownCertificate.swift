import Foundation
import NIOSSL

/// A client's certificate that was verified in the handshake.
final class ShownCertificate: Sendable {
    /// The longest certificate that is forwarded, in bytes of DER.
    private static let longest = 12 * 1024

    /// The value of `Client-Cert` (RFC 9440 section 2.2), a byte sequence of DER; nil for a certificate that is too
    /// long.
    let field: String?
    /// Until when it is valid, in ms since the Unix epoch.
    let validUntil: Int64
    /// What it was verified against.
    let authority: ClientAuthority

    /// Reads what is needed of the certificate once for the connection.
    init(_ certificate: NIOSSLCertificate, by authority: ClientAuthority) {
        self.authority = authority
        let bytes = (try? certificate.toDERBytes()) ?? []
        field = bytes.isEmpty || bytes.count > Self.longest ? nil : ":\(Data(bytes).base64EncodedString()):"
        validUntil = Int64(certificate.notValidAfter).multipliedReportingOverflow(by: 1_000).partialValue
    }
}
