import EdgeConfiguration
import Proxy

/// Reads the lists of mappings: `routes`, `issuers` and `events`.
enum RouteReader {
    /// Reads a file that a route names; nil if it does not exist.
    typealias Files = (String) throws(ConfigurationFault) -> [UInt8]?
    /// What is wrong with several keys of an entry together: the one that is to be changed, and what is wrong.
    typealias Contradiction = (key: String, message: String)

    /// Reads the list `routes`, and judges each route by itself and next to the others.
    static func routes(
        _ value: FileValue, secrets: inout SecretFiles, faults: inout [ConfigurationFault]
    ) -> [RouteConfiguration] {
        var routes = entries(
            value, label: "routes", settings: RouteSettings.all, required: ["path"],
            make: { RouteConfiguration(path: "") },
            secrets: &secrets, faults: &faults)
        for (index, (_, element)) in routes.enumerated() {
            UpstreamSettings.addDefaults(to: &routes[index].value, in: element)
            // Without a name it is a fault, and not a route that everyone may use who has any token.
            if routes[index].value.resource == nil, element.hasEmptySection("resource") {
                routes[index].value.resource = .init()
            }
            // Agents have no session: where nothing else is said, a resource requires a token.
            if routes[index].value.resource != nil, element.value(of: "require") == nil {
                routes[index].value.require = .token
            }
        }
        for (index, (route, element)) in routes.enumerated() {
            let label = "routes[\(index)]"
            let found = contradictions(in: route) + UpstreamSettings.contradictions(in: route, as: element)
            report(found, in: element, label: label, faults: &faults)
            let other = routes.prefix(index).first { overlaps($0.value, route) }
            if !route.path.isEmpty, let place = other?.element.place {
                let message = "the same path, host and method as the route at \(place): one would never be used"
                faults.append(.init(place: element.place, key: label, message: message))
            }
        }
        for (index, element) in (value.list ?? []).enumerated() {
            refuseEmpty(
                "allow", of: element, label: "routes[\(index)]",
                "lists nothing: give one of groups, users, email_domains, scopes_any, clients and tenants", &faults)
            checkFiles(of: element, label: "routes[\(index)]", files: secrets.contents, faults: &faults)
        }
        return routes.map(\.value)
    }

    /// Adds contradictions to the faults, at the places of their keys.
    private static func report(
        _ found: [Contradiction], in element: FileValue, label: String, faults: inout [ConfigurationFault]
    ) {
        for (key, message) in found {
            faults.append(.init(place: element.place(of: key), key: "\(label).\(key)", message: message))
        }
    }

    /// Refuses a section such as `allow` that lists nothing: it would let everyone in, which cannot be what it was
    /// written for.
    static func refuseEmpty(
        _ section: String, of entry: FileValue, label: String, _ message: String, _ faults: inout [ConfigurationFault]
    ) {
        guard let value = entry.value(of: section), entry.hasEmptySection(section) else { return }
        faults.append(.init(place: value.place, key: "\(label).\(section)", message: message))
    }

    /// Checks that the files a route names exist and have the right content, so that faults are found before the first
    /// request.
    private static func checkFiles(
        of route: FileValue, label: String, files: Files, faults: inout [ConfigurationFault]
    ) {
        for (key, value) in route.mapping ?? [] {
            guard let name = key.text, fileKeys.contains(name), let path = value.text, !path.isEmpty else { continue }
            var message: String?
            do throws(ConfigurationFault) {
                if let bytes = try files(path) {
                    message = complaint(about: bytes, of: name)
                } else {
                    message = "no such file: correct the path, or create it"
                }
            } catch {
                message = error.message
            }
            if let message { faults.append(.init(place: value.place, key: "\(label).\(name)", message: message)) }
        }
    }

    /// The keys that name PEM files, which are looked at with the configuration.
    private static let fileKeys = ["upstream_ca", "upstream_certificate", "upstream_key"]

    /// What is wrong with a PEM file; nil if it can be used.
    private static func complaint(about bytes: [UInt8], of key: String) -> String? {
        if key == "upstream_key" {
            return UpstreamTrust.holdsKey(bytes) ? nil : "expected a file with a PEM private key without a passphrase"
        }
        return UpstreamTrust.holdsCertificates(bytes) ? nil : "expected a file with PEM certificates"
    }

    /// Reads the list `issuers`. Each has another name.
    static func issuers(
        _ value: FileValue, secrets: inout SecretFiles, faults: inout [ConfigurationFault]
    ) -> [IssuerConfiguration] {
        let issuers = entries(
            value, label: "issuers", settings: IssuerSettings.all, required: ["issuer", "audience"],
            make: { IssuerConfiguration(issuer: "", jwks: nil, audience: []) }, secrets: &secrets, faults: &faults)
        var seen: Set<[UInt8]> = []
        for (index, (issuer, element)) in issuers.enumerated() {
            let label = "issuers[\(index)]"
            if !issuer.issuer.isEmpty, !seen.insert(Array(issuer.issuer.utf8)).inserted {
                faults.append(.init(place: element.place, key: label, message: "the same issuer twice: keep one"))
            }
            report(contradictions(in: issuer, as: element), in: element, label: label, faults: &faults)
        }
        return issuers.map(\.value)
    }

    /// Reads the list `events`. Each receiver has another URL.
    static func events(
        _ value: FileValue, secrets: inout SecretFiles, faults: inout [ConfigurationFault]
    ) -> [EventReceiverConfiguration] {
        let receivers = entries(
            value, label: "events", settings: EventSettings.all, required: ["url", "events"],
            make: { EventReceiverConfiguration(url: "", events: []) }, secrets: &secrets, faults: &faults)
        var seen: Set<[UInt8]> = []
        for (index, (receiver, element)) in receivers.enumerated() where !receiver.url.isEmpty {
            let place = element.place
            if !seen.insert(Array(receiver.url.utf8)).inserted {
                let message = "the same URL twice: list all of its events in one entry"
                faults.append(.init(place: place, key: "events[\(index)]", message: message))
            }
            if index >= ConfigurationBounds.eventReceivers.upperBound {
                let message = "at most \(ConfigurationBounds.eventReceivers.upperBound) receivers"
                faults.append(.init(place: place, key: "events[\(index)]", message: message))
            }
        }
        return receivers.map(\.value)
    }

    /// Whether some request fits both routes equally well.
    private static func overlaps(_ a: RouteConfiguration, _ b: RouteConfiguration) -> Bool {
        guard a.path == b.path, a.host == b.host else { return false }
        guard let first = a.methods, let second = b.methods else { return a.methods == nil && b.methods == nil }
        return !Set(first).isDisjoint(with: second)
    }

    /// Reads a list of mappings. Where the list or an entry can't be read, a fault is added.
    ///
    /// - Parameters:
    ///   - label: the name of the list in faults.
    ///   - required: the keys that every entry must have.
    ///   - make: makes an entry of default values.
    ///   - secrets: reads the values that stand in files.
    static func entries<Root>(
        _ value: FileValue, label: String, settings: [Setting<Root>], required: [String], make: () -> Root,
        secrets: inout SecretFiles, faults: inout [ConfigurationFault]
    ) -> [(value: Root, element: FileValue)] {
        if value.isEmpty { return [] }
        guard let list = value.list else {
            faults.append(.init(place: value.place, key: label, message: "expected a list: begin each entry with '- '"))
            return []
        }
        let files = SecretFiles.names(for: settings)
        var entries: [(value: Root, element: FileValue)] = []
        for (index, element) in list.enumerated() {
            guard let mapping = element.mapping else {
                faults.append(
                    .init(place: element.place, key: "\(label)[\(index)]", message: "expected keys and values"))
                continue
            }
            let name = "\(label)[\(index)]"
            let given = Set(mapping.compactMap { $0.key.text })
            let inFiles = files.intersection(given)
            for key in required where !given.contains(key) && !inFiles.contains(key + "_file") {
                faults.append(.init(place: element.place, key: name, message: "missing '\(key)'"))
            }
            var root = make()
            SettingReader(settings: settings, others: files).read(
                mapping, label: name + ".", into: &root, faults: &faults)
            secrets.fill(&root, from: element, label: name, settings: settings, faults: &faults)
            entries.append((root, element))
        }
        return entries
    }
}
