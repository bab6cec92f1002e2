import EdgeConfiguration
import Experience

/// Reads the list `identity_providers`, and takes secrets from the environment.
enum ProviderReader {
    private static let label = "identity_providers"

    /// Reads the list. The entries are checked by ``check(_:in:files:environment:faults:)``.
    static func providers(
        _ value: FileValue, secrets: inout SecretFiles, faults: inout [ConfigurationFault]
    ) -> [IdentityProviderConfiguration] {
        let providers = RouteReader.entries(
            value, label: label, settings: ProviderSettings.all, required: ["name", "client_id"],
            make: { IdentityProviderConfiguration(name: "", issuer: "", clientID: "").withoutIssuer },
            secrets: &secrets, faults: &faults)
        for (index, element) in (value.list ?? []).enumerated() {
            RouteReader.refuseEmpty(
                "allowed", of: element, label: "\(label)[\(index)]",
                "lists nothing: give one of email_domains, groups and claims, or remove it for everyone", &faults)
        }
        return providers.map(\.value)
    }

    /// Takes the secrets that the environment has, and reports everything that is wrong with the entries, each with its
    /// place in the file.
    static func check(
        _ providers: inout [IdentityProviderConfiguration], in value: FileValue, files: RouteReader.Files,
        environment: [String: String], faults: inout [ConfigurationFault]
    ) {
        for index in providers.indices {
            let entry = (value.list ?? []).indices.contains(index) ? (value.list ?? [])[index] : value
            var found: [IdentityProviderConfiguration.Fault] = []
            let fileVariable = providers[index].secretVariable + "_FILE"
            if let path = environment[fileVariable] {
                if environment[providers[index].secretVariable] != nil || providers[index].clientSecret != nil
                    || providers[index].clientSecretFile != nil
                {
                    found.append(("client_secret", "is given beside \(fileVariable): keep one of the two"))
                }
                providers[index].clientSecretFile = path
            }
            if let text = environment[providers[index].secretVariable] {
                if providers[index].clientSecret != nil || providers[index].clientSecretFile != nil {
                    found.append(
                        ("client_secret", "is given beside \(providers[index].secretVariable): keep one of the two"))
                }
                providers[index].clientSecret = .init(text)
            } else if providers[index].clientSecret != nil, providers[index].clientSecretFile != nil {
                found.append(("client_secret_file", "is given beside client_secret: keep one of the two"))
            }
            let provider = providers[index]
            var secret = provider.clientSecret
            if let path = provider.clientSecretFile, secret == nil {
                let name = "\(label)[\(index)].client_secret"
                let file = SecretFile(
                    key: "\(name)_file", valueKey: name, path: path, place: entry.place(of: "client_secret_file"))
                do throws(ConfigurationFault) {
                    secret = IdentityProviderConfiguration.Secret(try file.read(files))
                } catch {
                    found.append(("client_secret_file", error.message))
                }
            }
            if found.isEmpty { found = provider.resolved(secret: secret).faults }
            if providers.prefix(index).contains(where: { $0.name.utf8.elementsEqual(provider.name.utf8) }) {
                found.append(("name", "the same name twice: give each provider its own"))
            }
            // A missing name or client_id has been reported already.
            for fault in found where !isMissing(fault.key, in: entry) {
                faults.append(
                    .init(
                        place: entry.place(of: fault.key), key: "\(label)[\(index)].\(fault.key)",
                        message: fault.sentence))
            }
        }
    }

    /// Whether a key that every provider needs is not there, which is a fault already.
    private static func isMissing(_ key: String, in entry: FileValue) -> Bool {
        ["name", "client_id", "display_name"].contains(key) && entry.value(of: key) == nil
    }
}

extension IdentityProviderConfiguration {
    /// The initialiser wants an issuer, which an entry of the file need not have.
    fileprivate var withoutIssuer: Self {
        var entry = self
        entry.issuer = nil
        return entry
    }
}
