import ArgumentParser
import NIOSSL

/// The options for trusting a target over https.
struct AttackTLS: ParsableArguments {
    @Option(help: .init("Trust this CA for https: PEM.", valueName: "file"))
    var ca: String?
    @Flag(help: "Trust any certificate over https.")
    var insecure = false
    @Option(help: .init("A client certificate for https: PEM.", valueName: "file"))
    var clientCert: String?
    @Option(help: .init("The client certificate's key: PEM.", valueName: "file"))
    var clientKey: String?

    /// The largest PEM file that is read, in bytes.
    private static let limit = 1 << 20

    /// The settings of TLS connections to the target. Throws for files that can't be used.
    func context(isHTTP2: Bool) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = [isHTTP2 ? "h2" : "http/1.1"]
        if insecure { configuration.certificateVerification = .none }
        if let ca {
            configuration.trustRoots = .certificates(try Self.certificates(ca))
        }
        guard (clientCert == nil) == (clientKey == nil) else {
            throw CommandFailure("--client-cert and --client-key go together: give both", status: .misused)
        }
        if let clientCert, let clientKey {
            configuration.certificateChain = try Self.certificates(clientCert).map { .certificate($0) }
            let bytes = try Self.bytes(clientKey)
            guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
                throw CommandFailure("\(clientKey): no PEM key: name the certificate's key", status: .misused)
            }
            configuration.privateKey = .privateKey(key)
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw CommandFailure("the certificates can't be used: is the key the certificate's?", status: .misused)
        }
    }

    /// The certificates of a PEM file, one at least.
    private static func certificates(_ path: String) throws -> [NIOSSLCertificate] {
        guard let found = try? NIOSSLCertificate.fromPEMBytes(try bytes(path)), !found.isEmpty else {
            throw CommandFailure("\(path): no PEM certificates: name a file with some", status: .misused)
        }
        return found
    }

    /// The contents of a file that has to exist.
    private static func bytes(_ path: String) throws(CommandFailure) -> [UInt8] {
        guard let bytes = try FileBytes.read(path, limit: limit) else {
            throw CommandFailure("\(path): no such file: correct the path", status: .misused)
        }
        return bytes
    }
}
