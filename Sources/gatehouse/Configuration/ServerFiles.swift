import EdgeConfiguration
import Experience
import Proxy

/// Checks the files of `server.tls` as `serve` does, so that `config check` finds faults with which it would not start.
enum ServerFiles {
    /// - Parameter contents: reads a file; nil if it does not exist.
    static func faults(
        of loaded: LoadedConfiguration, contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) -> [ConfigurationFault] {
        guard let tls = loaded.configuration.server.tls else { return [] }
        var faults: [ConfigurationFault] = []
        let pairs =
            [(tls.certificate, tls.key, "server.tls.certificate", "server.tls.key")]
            + tls.certificates.map { ($0.certificate, $0.key, CertificateSettings.key, CertificateSettings.key) }
        for (certificate, key, certificateName, keyName) in pairs {
            let pair = Pair(
                certificate: File(path: certificate, key: certificateName, place: loaded.place(of: certificateName)),
                key: File(path: key, key: keyName, place: loaded.place(of: keyName)))
            faults += check(pair, contents)
        }
        if let path = tls.clientCA {
            let name = "server.tls.client_ca"
            let file = File(path: path, key: name, place: loaded.place(of: name))
            if let bytes = read(file, contents, &faults), !UpstreamTrust.holdsCertificates(bytes) {
                faults.append(.init(place: file.place, key: name, message: "\(path): expected PEM certificates"))
            }
        }
        return faults
    }

    /// A file that a key names.
    private struct File {
        /// As it is written, relative to the working directory.
        let path: String
        /// The key that names it, for faults.
        let key: String
        /// Where it is named: `FILE:LINE:COLUMN`, a variable or a flag.
        let place: String
    }

    /// A certificate and its key.
    private struct Pair {
        let certificate: File
        let key: File
    }

    /// What is wrong with the two files.
    private static func check(
        _ pair: Pair, _ contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        let certificate = read(pair.certificate, contents, &faults)
        let key = read(pair.key, contents, &faults)
        if let certificate, !UpstreamTrust.holdsCertificates(certificate) {
            faults.append(
                .init(
                    place: pair.certificate.place, key: pair.certificate.key,
                    message: "\(pair.certificate.path): expected PEM certificates, the server's own first"))
        }
        if let key, !UpstreamTrust.holdsKey(key) {
            faults.append(
                .init(
                    place: pair.key.place, key: pair.key.key,
                    message: "\(pair.key.path): expected a PEM private key without a passphrase"))
        }
        if faults.isEmpty, let certificate, let key, !UpstreamTrust.fit(certificates: certificate, key: key) {
            faults.append(
                .init(
                    place: pair.key.place, key: "server.tls",
                    message: "\(pair.key.path) is not the key of the first certificate in \(pair.certificate.path)"))
        }
        return faults
    }

    /// The contents of a file that has to exist; nil where that was a fault.
    private static func read(
        _ file: File, _ contents: (String) throws(ConfigurationFault) -> [UInt8]?,
        _ faults: inout [ConfigurationFault]
    ) -> [UInt8]? {
        do throws(ConfigurationFault) {
            if let bytes = try contents(file.path) { return bytes }
            let message = "\(file.path): no such file: correct the path, or create it"
            faults.append(.init(place: file.place, key: file.key, message: message))
        } catch {
            faults.append(.init(place: file.place, key: file.key, message: error.message))
        }
        return nil
    }
}
