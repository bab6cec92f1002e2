import Answers
import EdgeConfiguration
import EdgeCore
import Foundation
import NIOSSL
import Synchronization

/// What is known of the certificate of a connection's client. It was verified in the handshake.
enum PeerCertificate {
    /// The client was not asked for one.
    case notAsked
    /// It was asked and has shown none.
    case missing
    /// It has shown one that `server.tls.client_ca` accepts; any other ends the handshake.
    case shown(ShownCertificate)
}

/// The certificates of `server.tls.client_ca`, for as long as they are configured.
final class ClientAuthority: Sendable {
    /// The file as it was read.
    let certificates: Data?
    /// Whether a certificate that was verified against them still counts.
    let isCurrent = Atomic(true)

    /// A file that can't be read gives nil; the contexts that are made from the same file then fail.
    init(file: String) { certificates = FileManager.default.contents(atPath: file) }
}

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

extension EdgeConnection {
    /// Refuses a request to a route that requires a client certificate, if the connection has none that is valid now.
    ///
    /// What counts is the connection and not the name in the request: a client that was not asked, because it named
    /// another host in the handshake, gets 421 and connects again (RFC 9110 section 15.5.20).
    ///
    /// - Parameter now: when the request was received, in ms since the Unix epoch.
    /// - Throws: 421 where another connection would help, else `not_allowed`.
    func requireCertificate(for route: Route, at now: Int64) throws(Problem) {
        guard route.requiresCertificate else { return }
        let reason: String
        switch origin.certificate {
        case .notAsked:
            closeAfterAnswer()
            throw Problem(
                .invalidRequest, .foreignHost,
                detail: "This host asks for a client certificate: connect to it by its own name.",
                reason: "client_certificate_not_asked")
        case .missing: reason = "client_certificate_missing"
        case .shown(let certificate) where !certificate.authority.isCurrent.load(ordering: .acquiring):
            closeAfterAnswer()
            throw Problem(
                .invalidRequest, .foreignHost,
                detail: "The certificates of clients are verified anew: connect again.",
                reason: "client_certificate_outdated")
        case .shown(let certificate) where certificate.validUntil <= now: reason = "client_certificate_expired"
        case .shown(let certificate):
            guard route.configuration.forwardClientCertificate, certificate.field == nil else { return }
            reason = "client_certificate_too_long"
        }
        throw Problem(.notAllowed, detail: "A valid client certificate is needed.", reason: reason)
    }

    /// The value of `Client-Cert` for a route's upstream; nil where it is not told. Only with
    /// `forward_client_certificate` of the route.
    func certificateField(for route: Route) -> String? {
        guard route.requiresCertificate, route.configuration.forwardClientCertificate,
            case .shown(let certificate) = origin.certificate
        else { return nil }
        return certificate.field
    }
}
