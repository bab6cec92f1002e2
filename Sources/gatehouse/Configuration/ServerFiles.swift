import EdgeConfiguration
import Experience
import Proxy

/// Checks the files of `server.tls` as `serve` does, so that `config check` finds faults with which it would not start.
enum ServerFiles {
    /// - Parameter contents: reads a file; nil if it does not exist.
    static func faults(
        of configuration: GatewayConfiguration, place: String,
        contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) -> [ConfigurationFault] {
        guard let tls = configuration.server.tls else { return [] }
        var faults: [ConfigurationFault] = []
        let certificate = read(tls.certificate, "server.tls.certificate", place, contents, &faults)
        let key = read(tls.key, "server.tls.key", place, contents, &faults)
        if let certificate, !UpstreamTrust.holdsCertificates(certificate) {
            faults.append(
                .init(
                    place: place, key: "server.tls.certificate",
                    message: "\(tls.certificate): expected PEM certificates, the server's own first"))
        }
        if let key, !UpstreamTrust.holdsKey(key) {
            faults.append(
                .init(
                    place: place, key: "server.tls.key",
                    message: "\(tls.key): expected a PEM private key without a passphrase"))
        }
        if faults.isEmpty, let certificate, let key, !UpstreamTrust.fit(certificates: certificate, key: key) {
            faults.append(
                .init(
                    place: place, key: "server.tls",
                    message: "\(tls.key) is not the key of the first certificate in \(tls.certificate)"))
        }
        return faults
    }

    private static func read(
        _ path: String, _ key: String, _ place: String,
        _ contents: (String) throws(ConfigurationFault) -> [UInt8]?, _ faults: inout [ConfigurationFault]
    ) -> [UInt8]? {
        do throws(ConfigurationFault) {
            if let bytes = try contents(path) { return bytes }
            faults.append(
                .init(place: place, key: key, message: "\(path): no such file: correct the path, or create it"))
        } catch {
            faults.append(.init(place: place, key: key, message: error.message))
        }
        return nil
    }
}
