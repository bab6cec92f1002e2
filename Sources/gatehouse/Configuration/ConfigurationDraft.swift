import EdgeConfiguration

/// What is being read: the configuration, and the parts of it that only make sense together.
struct ConfigurationDraft: Sendable {
    /// All other keys. Its `server.tls` has no meaning until ``joinTLS()``.
    var configuration = GatewayConfiguration()
    /// `server.tls.certificate`, a path. One without the other is a fault, which only the draft can show: the
    /// configuration has both or none.
    var certificate: String?
    /// `server.tls.key`, a path.
    var certificateKey: String?
    /// `server.tls.certificates`. Without the two keys above it is a fault.
    var certificates: [GatewayConfiguration.NamedCertificate] = []
    /// `server.tls.client_ca`, a path. Without the two keys above it is a fault.
    var clientCA: String?
    /// A file that holds `state.url`.
    var stateURLFile: String?
    /// The files that hold values of the entries of lists.
    var secretFiles: [SecretFile] = []
    /// Where each key was given.
    var places: [String: String] = [:]
    /// Where the file has the section `server.tls`; nil if it has none, or one in which all keys are commented out.
    var placeOfTLS: String?

    /// The default configuration.
    init() {}

    /// The draft from which the configuration would be made.
    ///
    /// - Parameter stateURLFile: the file that holds `state.url`; nil if none does.
    init(_ configuration: GatewayConfiguration, stateURLFile: String? = nil) {
        self.configuration = configuration
        self.stateURLFile = stateURLFile
        certificate = configuration.server.tls?.certificate
        certificateKey = configuration.server.tls?.key
        certificates = configuration.server.tls?.certificates ?? []
        clientCA = configuration.server.tls?.clientCA
    }

    /// Puts the keys of `server.tls` together, where TLS is on.
    mutating func joinTLS() {
        guard let certificate, let certificateKey else {
            configuration.server.tls = nil
            return
        }
        var tls = GatewayConfiguration.TLS(certificate: certificate, key: certificateKey)
        tls.certificates = certificates
        tls.clientCA = clientCA
        configuration.server.tls = tls
    }
}
