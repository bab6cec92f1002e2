import EdgeCore
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Why an upstream failed.
package struct UpstreamFault: Sendable, Equatable {
    /// A word for the audit log.
    package let reason: String
    /// A phrase for the operator's log.
    package let cause: String
    /// Whether the upstream is to blame, and not the gateway or the client.
    package var isUpstreams = true

    /// Creates a fault.
    package init(reason: String, cause: String) {
        self.reason = reason
        self.cause = cause
    }

    /// The fault for an error of connecting.
    package init(connecting error: any Error) {
        if let error = error as? NIOConnectionError {
            // For a name with several addresses, the error of the first is reported.
            if let first = error.connectionErrors.first {
                self = UpstreamFault(connecting: first.error)
            } else {
                self.init(reason: "upstream_unresolved", cause: "the host name can't be resolved")
            }
        } else if let error = error as? IOError {
            self.init(reason: Self.reason(ofCode: error.errnoCode), cause: Self.text(ofCode: error.errnoCode))
            isUpstreams = !Self.ownShortages.contains(error.errnoCode)
        } else if let error = error as? ChannelError, case .connectTimeout = error {
            self.init(reason: "upstream_connect_timeout", cause: "no connection in time")
        } else if let tls = Self.tlsCause(of: error) {
            self.init(reason: "upstream_tls", cause: tls)
        } else {
            self.init(reason: "upstream_unreachable", cause: "\(error)")
        }
    }

    /// The fault of a connection that ended before its answer came; the error is nil for an orderly close.
    package init(closedBy error: (any Error)?) {
        if let tls = error.flatMap({ Self.tlsCause(of: $0) }) {
            self.init(reason: "upstream_tls", cause: tls)
        } else if let error = error as? IOError {
            self.init(reason: "upstream_closed", cause: Self.text(ofCode: error.errnoCode))
        } else {
            self.init(reason: "upstream_closed", cause: "it closed the connection before it answered")
        }
    }

    /// The reason where each upstream has as many requests or connections as it may.
    package static let full = "upstream_full"
    /// The answer is not HTTP/1.1.
    package static let malformed = UpstreamFault(
        reason: "upstream_answer_malformed", cause: "its answer is no HTTP/1.1")
    /// No connection was made in time.
    package static let connectTimeout = UpstreamFault(
        reason: "upstream_connect_timeout", cause: "no connection in time")
    /// No answer came in time.
    package static let answerTimeout = UpstreamFault(
        reason: "upstream_answer_timeout", cause: "no answer within the timeout")

    /// What the gateway's own machine has run out of.
    private static let ownShortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL]

    private static func reason(ofCode code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "upstream_refused"
        case ENOENT: "upstream_no_socket"
        case ETIMEDOUT: "upstream_connect_timeout"
        default: "upstream_unreachable"
        }
    }

    private static func text(ofCode code: CInt) -> String { String(cString: strerror(code)) }

    private static func tlsCause(of error: any Error) -> String? {
        guard error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError else { return nil }
        return TLSFault.words(in: String(describing: error))
    }
}
