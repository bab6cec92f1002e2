import EdgeConfiguration
import Experience
import Glibc
import StateSurface

/// Inspects a deployment from where the doctor runs. Nothing is changed, and everything is bounded in time and size.
struct DoctorSurvey {
    let loaded: LoadedConfiguration

    private var configuration: GatewayConfiguration { loaded.configuration }

    /// Collects everything that is judged. Does not throw: what can't be seen is a fact, too.
    func facts() async -> DoctorFacts {
        async let store = lookAtStore()
        async let dependencies = DoctorDependencies.ask(DoctorDependencies.all(configuration))
        let gateway = await DoctorGateway.ask(configuration.server.admin)
        let issuer = await askIssuer(isRunning: gateway != nil)
        var facts = DoctorFacts(now: SystemClock.milliseconds(), store: await store)
        facts.gateway = gateway
        facts.issuer = issuer
        facts.dependencies = await dependencies
        facts.file = loaded.file.flatMap(DoctorFiles.entry)
        facts.secretFiles = secretFiles()
        facts.keys = keys()
        facts.certificate = configuration.server.tls.flatMap { DoctorFiles.leaf(of: $0.certificate) }
        facts.disks = disks()
        facts.audit = DoctorFiles.audit(configuration.audit.file)
        facts.callers = DoctorFiles.callers(
            [configuration.log.access, configuration.audit.file].compactMap { $0 }.filter { $0 != "stderr" })
        return facts
    }

    /// Inspects the store without making or migrating it.
    private func lookAtStore() async -> DoctorFacts.Store {
        let url = configuration.state.url
        do {
            if let path = try StateSurfaceFactory.missingFile(url: url) { return .missing(path: path) }
            return .seen(try await StateSurfaceFactory.inspect(url: url, clock: SystemClock.milliseconds))
        } catch {
            return .failed((error as? StateSurfaceError)?.message ?? "the store can't be read")
        }
    }

    /// The metadata at the issuer's own URL. Asked only if a gateway runs, or if that can't be known because
    /// `server.admin` is off.
    private func askIssuer(isRunning: Bool) async -> DoctorFacts.Answer? {
        guard let issuer = configuration.tokens.issuer, isRunning || configuration.server.admin == nil else {
            return nil
        }
        return await DoctorFetch.get("\(issuer)/.well-known/oauth-authorization-server")
    }

    /// The files that hold secrets of the configuration: `state.url_file`, `client_secret_file`, `headers_file` and their
    /// like. Only their permissions are read. A passphrase that others can read is a fault of the configuration, and no
    /// command comes this far.
    private func secretFiles() -> [(key: String, entry: DoctorFacts.Entry)] {
        var files = [(key: "state.url_file", path: loaded.stateURLFile)]
        files += loaded.secretFiles.map { (key: $0.key, path: Optional($0.path)) }
        for (index, provider) in configuration.identityProviders.enumerated() {
            files.append((key: "identity_providers[\(index)].client_secret_file", path: provider.clientSecretFile))
        }
        return files.compactMap { file in
            file.path.flatMap(DoctorFiles.entry).map { (key: file.key, entry: $0) }
        }
    }

    /// The key directory, its PEM files and its index. Only permissions are read, not the keys.
    private func keys() -> DoctorFacts.Keys {
        let path = configuration.keys.directory
        var keys = DoctorFacts.Keys(directory: DoctorFiles.entry(path))
        keys.files = DoctorFiles.names(in: path).filter { $0.hasSuffix(".pem") || $0 == "keyring.json" }
            .compactMap { DoctorFiles.entry("\(path)/\($0)") }
        return keys
    }

    /// The disks of the embedded store, the audit log and the access log, where these are files.
    private func disks() -> [DoctorFacts.Disk] {
        var places: [(key: String, path: String)] = []
        if case .sqlite(let path) = StoreURL(configuration.state.url) { places.append(("state.url", path)) }
        if let file = configuration.audit.file { places.append(("audit.file", file)) }
        if let file = configuration.log.access, file != "stderr" { places.append(("log.access", file)) }
        return DoctorFiles.disks(places.map { ($0.key, DoctorFiles.folder(of: $0.path)) })
    }
}
