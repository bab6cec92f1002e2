import Experience

/// Reads the two lists of mappings: `routes` and `issuers`.
enum RouteReader {
    static func routes(_ value: FileValue, faults: inout [ConfigurationFault]) -> [RouteConfiguration] {
        var seen: [(route: RouteConfiguration, place: String)] = []
        let routes = entries(
            value, label: "routes", settings: RouteSettings.all, required: ["path"],
            make: { RouteConfiguration(path: "") },
            faults: &faults)
        for (index, (route, place)) in routes.enumerated() {
            let key = "routes[\(index)]"
            for message in complaints(about: route) {
                faults.append(.init(place: place, key: key, message: message))
            }
            if !route.path.isEmpty, let other = seen.first(where: { overlaps($0.route, route) }) {
                let message = "the same path, host and method as the route at \(other.place): one would never be used"
                faults.append(.init(place: place, key: key, message: message))
            }
            seen.append((route, place))
        }
        return routes.map(\.value)
    }

    static func issuers(_ value: FileValue, faults: inout [ConfigurationFault]) -> [IssuerConfiguration] {
        let issuers = entries(
            value, label: "issuers", settings: IssuerSettings.all, required: ["issuer", "jwks", "audience"],
            make: { IssuerConfiguration(issuer: "", jwks: "", audience: []) }, faults: &faults)
        var seen: Set<[UInt8]> = []
        for (index, (issuer, place)) in issuers.enumerated() where !issuer.issuer.isEmpty {
            if !seen.insert(Array(issuer.issuer.utf8)).inserted {
                faults.append(.init(place: place, key: "issuers[\(index)]", message: "the same issuer twice: keep one"))
            }
        }
        return issuers.map(\.value)
    }

    /// What single keys can't show: keys that contradict each other.
    private static func complaints(about route: RouteConfiguration) -> [String] {
        var complaints: [String] = []
        let provesToken = route.require == .token || route.require == .tokenAndSession
        if !route.scopes.isEmpty, !provesToken {
            complaints.append("'scopes' are read from a token: use 'require: token' or 'token+session'")
        }
        let isRemote = route.upstreams.map { $0.hasPrefix("https:") }
        if isRemote.contains(true), isRemote.contains(false) {
            complaints.append("'upstream' mixes https with plain connections: use one kind")
        }
        return complaints
    }

    private static func overlaps(_ a: RouteConfiguration, _ b: RouteConfiguration) -> Bool {
        guard a.path == b.path, a.host == b.host else { return false }
        guard let first = a.methods, let second = b.methods else { return a.methods == nil && b.methods == nil }
        return !Set(first).isDisjoint(with: second)
    }

    private static func entries<Root>(
        _ value: FileValue, label: String, settings: [Setting<Root>], required: [String], make: () -> Root,
        faults: inout [ConfigurationFault]
    ) -> [(value: Root, place: String)] {
        if value.isEmpty { return [] }
        guard let list = value.list else {
            faults.append(.init(place: value.place, key: label, message: "expected a list: begin each entry with '- '"))
            return []
        }
        var entries: [(value: Root, place: String)] = []
        for (index, element) in list.enumerated() {
            guard let mapping = element.mapping else {
                faults.append(
                    .init(place: element.place, key: "\(label)[\(index)]", message: "expected keys and values"))
                continue
            }
            let name = "\(label)[\(index)]"
            for key in required where !mapping.contains(where: { $0.key.text == key }) {
                faults.append(.init(place: element.place, key: name, message: "missing '\(key)'"))
            }
            var root = make()
            SettingReader(settings: settings).read(mapping, label: name + ".", into: &root, faults: &faults)
            entries.append((root, element.place))
        }
        return entries
    }
}
