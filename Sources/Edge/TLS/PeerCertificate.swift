import Answers
import EdgeConfiguration
import EdgeCore
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
