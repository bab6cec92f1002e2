import EdgeConfiguration
import Experience
import Proxy
import SecurityGuard

/// Checks the files that the configuration names, whose faults would stop a start: one check for every command that
/// tells of them.
enum NamedFiles {
    /// - Parameter contents: reads a file; nil if it does not exist.
    /// - Throws: all faults, each with the place of the key that names the file.
    static func check(
        of loaded: LoadedConfiguration, contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) throws(ConfigurationFaults) {
        let faults =
            ServerFiles.faults(of: loaded, contents: contents) + IssuerFiles.faults(of: loaded, contents: contents)
            + passphraseFaults(of: loaded) + rootFaults(of: loaded, contents: contents)
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
    }

    /// The passphrase of the keys; nil where there is none. Whether it decrypts them is not checked here.
    static func passphrase(of loaded: LoadedConfiguration) throws(ConfigurationFaults) -> KeyPassphrase? {
        do throws(GuardError) {
            return try loaded.configuration.keys.readPassphrase()
        } catch {
            let key = "keys.passphrase_file"
            // The message names the key for those who embed the gateway, and a fault names it by itself.
            let named = "\(key): "
            let message = error.message.hasPrefix(named) ? String(error.message.dropFirst(named.count)) : error.message
            let fault = ConfigurationFault(place: loaded.place(of: key), key: key, message: message)
            throw ConfigurationFaults(faults: [fault])
        }
    }

    /// What is wrong with the passphrase file.
    private static func passphraseFaults(of loaded: LoadedConfiguration) -> [ConfigurationFault] {
        do throws(ConfigurationFaults) {
            _ = try passphrase(of: loaded)
            return []
        } catch {
            return error.faults
        }
    }

    /// What is wrong with the file of certificate authorities for outgoing connections.
    private static func rootFaults(
        of loaded: LoadedConfiguration, contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) -> [ConfigurationFault] {
        guard let path = loaded.configuration.clients.ca else { return [] }
        let message: String
        do throws(ConfigurationFault) {
            guard let bytes = try contents(path) else {
                message = "\(path): no such file: correct the path, or create it"
                return [ConfigurationFault(place: loaded.place(of: "clients.ca"), key: "clients.ca", message: message)]
            }
            if UpstreamTrust.holdsCertificates(bytes) { return [] }
            message = "\(path): expected PEM certificates"
        } catch {
            message = error.message
        }
        return [ConfigurationFault(place: loaded.place(of: "clients.ca"), key: "clients.ca", message: message)]
    }
}
