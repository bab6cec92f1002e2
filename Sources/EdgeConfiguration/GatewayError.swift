/// Why a gateway can't be started, or can't use something that its configuration names.
///
/// Errors of the same code are equal.
public struct GatewayError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The causes, one code each.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// Another process listens on the address, or on the Unix socket.
        case addressInUse = "address_in_use"
        /// The machine does not have the address, or no address of its kind.
        case addressUnavailable = "address_unavailable"
        /// This user may not bind the address.
        case addressForbidden = "address_forbidden"
        /// The name of the host can't be resolved.
        case hostUnknown = "host_unknown"
        /// There is another file at the path of a Unix socket, or the path can't be written.
        case socketPath = "socket_path"
        /// The operating system refuses to listen for another reason.
        case listenFailed = "listen_failed"
        /// `tokens.algorithm` isn't an algorithm that tokens can be signed with.
        case algorithmUnknown = "algorithm_unknown"
        /// `server.tls`: the certificate or its key can't be used.
        case certificate
        /// The URL of an upstream can't be read.
        case upstreamURL = "upstream_url"
        /// The certificates for a route's https upstreams can't be used.
        case upstreamTrust = "upstream_trust"
        /// The key set of a trusted issuer can't be read from its file.
        case keySetUnreadable = "key_set_unreadable"
        /// The key set of a trusted issuer could not be fetched.
        case keySetUnavailable = "key_set_unavailable"
        /// The client secret of an identity provider can't be read from its file.
        case clientSecretUnreadable = "client_secret_unreadable"
    }

    /// The cause.
    public let code: Code
    /// One sentence for the operator: what is wrong, and what to do about it. Never contains a secret.
    public let message: String
    /// The error that led to this one, if another one did.
    public let cause: (any Error)?
    private let file: StaticString
    private let line: UInt

    /// - Parameters:
    ///   - file: where the error was made, as `MODULE/FILE`.
    ///   - line: the line of that file.
    package init(
        _ code: Code, _ message: String, cause: (any Error)? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.file = file
        self.line = line
    }

    /// The same error, with the key of the configuration that it concerns.
    package func about(_ key: String) -> GatewayError {
        GatewayError(code, "\(key): \(message)", cause: cause, file: file, line: line)
    }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// The sentence.
    public var description: String { message }

    /// Code, sentence, cause and the place in the sources.
    public var debugDescription: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(code.rawValue): \(message)\(cause) at \(file):\(line)"
    }
}
