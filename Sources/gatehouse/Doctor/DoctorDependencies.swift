import EdgeConfiguration

/// The servers that the configuration names, and whether they answer.
enum DoctorDependencies {
    /// The most that are asked.
    static let most = 200
    /// How many are asked at the same time.
    private static let atOnce = 16

    /// Every server once, with the key that names it. None has been asked yet.
    static func all(_ configuration: GatewayConfiguration) -> [DoctorFacts.Dependency] {
        var found: [DoctorFacts.Dependency] = []
        /// Adds one that is not in the list, up to the limit.
        func add(_ check: String, _ key: String, _ target: String, _ kind: DoctorFacts.Dependency.Kind) {
            guard !found.contains(where: { $0.target == target && $0.kind == kind }), found.count < most else { return }
            found.append(.init(check: check, key: key, target: target, kind: kind, answer: .failed("not asked")))
        }
        for (index, route) in configuration.routes.enumerated() {
            for upstream in route.upstreams { add("upstreams", "routes[\(index)]", upstream, .connection) }
        }
        if let runtime = configuration.runtime.url { add("runtime", "runtime.url", runtime, .connection) }
        for (index, provider) in configuration.identityProviders.enumerated() {
            let key = "identity_providers[\(index)]"
            if provider.preset == .github {
                add("providers", key, "https://github.com", .connection)
            } else if provider.kind == .oauth2 {
                for url in [provider.tokenEndpoint, provider.userInfoEndpoint].compactMap({ $0 }) {
                    add("providers", key, URLText(url)?.origin ?? url, .connection)
                }
            } else if let issuer = provider.issuer {
                add("providers", key, discovery(of: issuer), .discovery(issuer: issuer))
            }
        }
        for (index, issuer) in configuration.issuers.enumerated() {
            let key = "issuers[\(index)]"
            if issuer.discovery {
                add("issuers", key, discovery(of: issuer.issuer), .discovery(issuer: issuer.issuer))
            } else if let jwks = issuer.jwks, URLText(jwks)?.isHTTP == true {
                add("issuers", key, jwks, .keySet)
            }
        }
        for (index, receiver) in configuration.events.enumerated() {
            add("events", "events[\(index)]", URLText(receiver.url)?.origin ?? receiver.url, .connection)
        }
        if let collector = configuration.tracing.otlp { add("tracing", "tracing.otlp", collector, .connection) }
        return found
    }

    /// The URL of an issuer's OpenID configuration.
    private static func discovery(of issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }

    /// Asks all, a few at a time.
    static func ask(_ dependencies: [DoctorFacts.Dependency]) async -> [DoctorFacts.Dependency] {
        var asked = dependencies
        await withTaskGroup(of: (Int, DoctorFacts.Answer).self) { tasks in
            var next = dependencies.indices.makeIterator()
            func addNext() {
                guard let index = next.next() else { return }
                let dependency = dependencies[index]
                tasks.addTask { (index, await ask(dependency)) }
            }
            for _ in 0..<atOnce { addNext() }
            while let (index, answer) = await tasks.next() {
                asked[index].answer = answer
                addNext()
            }
        }
        return asked
    }

    /// Fetches a document, or connects where no document is asked for.
    private static func ask(_ dependency: DoctorFacts.Dependency) async -> DoctorFacts.Answer {
        guard dependency.kind == .connection else { return await DoctorFetch.get(dependency.target) }
        guard let target = DoctorTarget(dependency.target) else { return .failed("this address can't be read") }
        return await DoctorFetch.connect(target)
    }
}
