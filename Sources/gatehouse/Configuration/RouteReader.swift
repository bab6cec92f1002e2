import EdgeConfiguration
import EdgeCore
import Experience
import Proxy

/// Reads the lists of mappings: `routes`, `issuers` and `events`.
enum RouteReader {
    /// Reads a file that a route names; nil if it does not exist.
    typealias Files = (String) throws(ConfigurationFault) -> [UInt8]?

    static func routes(
        _ value: FileValue, files: Files, faults: inout [ConfigurationFault]
    ) -> [RouteConfiguration] {
        var seen: [(route: RouteConfiguration, place: String)] = []
        var routes = entries(
            value, label: "routes", settings: RouteSettings.all, required: ["path"],
            make: { RouteConfiguration(path: "") },
            faults: &faults)
        var given: [Set<String>] = []
        for index in routes.indices {
            let element = value.list?.first { $0.place == routes[index].place }
            let keys = Set((element?.mapping ?? []).compactMap { $0.key.text })
            given.append(keys)
            UpstreamSettings.addDefaults(to: &routes[index].value, for: keys)
            // Agents have no session: where nothing else is said, a resource requires a token.
            if routes[index].value.resource != nil, !keys.contains("require") { routes[index].value.require = .token }
        }
        for (index, (route, place)) in routes.enumerated() {
            let key = "routes[\(index)]"
            for message in complaints(about: route) + UpstreamSettings.complaints(about: route, in: given[index]) {
                faults.append(.init(place: place, key: key, message: message))
            }
            if !route.path.isEmpty, let other = seen.first(where: { overlaps($0.route, route) }) {
                let message = "the same path, host and method as the route at \(other.place): one would never be used"
                faults.append(.init(place: place, key: key, message: message))
            }
            seen.append((route, place))
        }
        for (index, element) in (value.list ?? []).enumerated() {
            checkAllow(of: element, label: "routes[\(index)]", faults: &faults)
            checkFiles(of: element, label: "routes[\(index)]", files: files, faults: &faults)
        }
        return routes.map(\.value)
    }

    /// Refuses an `allow` that lists nothing: it would let everybody in, which nobody writes it for.
    private static func checkAllow(of route: FileValue, label: String, faults: inout [ConfigurationFault]) {
        for (key, value) in route.mapping ?? [] where key.text == "allow" {
            guard value.isEmpty || value.mapping?.isEmpty == true else { continue }
            faults.append(
                .init(
                    place: value.place, key: "\(label).allow",
                    message: "lists nothing: give one of groups, users, email_domains, scopes_any, clients and tenants")
            )
        }
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

    private static let fileKeys = ["upstream_ca", "upstream_certificate", "upstream_key"]

    private static func complaint(about bytes: [UInt8], of key: String) -> String? {
        if key == "upstream_key" {
            return UpstreamTrust.holdsKey(bytes) ? nil : "expected a file with a PEM private key without a passphrase"
        }
        return UpstreamTrust.holdsCertificates(bytes) ? nil : "expected a file with PEM certificates"
    }

    static func issuers(_ value: FileValue, faults: inout [ConfigurationFault]) -> [IssuerConfiguration] {
        let issuers = entries(
            value, label: "issuers", settings: IssuerSettings.all, required: ["issuer", "audience"],
            make: { IssuerConfiguration(issuer: "", jwks: nil, audience: []) }, faults: &faults)
        var seen: Set<[UInt8]> = []
        for (index, (issuer, place)) in issuers.enumerated() {
            if !issuer.issuer.isEmpty, !seen.insert(Array(issuer.issuer.utf8)).inserted {
                faults.append(.init(place: place, key: "issuers[\(index)]", message: "the same issuer twice: keep one"))
            }
            for message in complaints(about: issuer) {
                faults.append(.init(place: place, key: "issuers[\(index)]", message: message))
            }
        }
        return issuers.map(\.value)
    }

    static func events(_ value: FileValue, faults: inout [ConfigurationFault]) -> [EventReceiverConfiguration] {
        let receivers = entries(
            value, label: "events", settings: EventSettings.all, required: ["url", "events"],
            make: { EventReceiverConfiguration(url: "", events: []) }, faults: &faults)
        var seen: Set<[UInt8]> = []
        for (index, (receiver, place)) in receivers.enumerated() where !receiver.url.isEmpty {
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

    /// Faults that involve several keys of an issuer.
    private static func complaints(about issuer: IssuerConfiguration) -> [String] {
        var complaints: [String] = []
        if issuer.jwks == nil, !issuer.discovery { complaints.append("missing 'jwks', or 'discovery: true'") }
        if issuer.jwks != nil, issuer.discovery {
            complaints.append("'jwks' and 'discovery' say where the keys are in two ways: keep one")
        }
        if issuer.atGate, issuer.tenants.count != 1 {
            complaints.append("'at_gate' needs exactly one tenant: no token says which of several is meant")
        }
        return complaints
    }

    /// What a resource can't be at the same time.
    private static func contradictions(of route: RouteConfiguration) -> [String] {
        guard let resource = route.resource else { return [] }
        var complaints: [String] = []
        if resource.name.isEmpty { complaints.append("'resource' needs a 'name', which people are shown") }
        if route.require != .token { complaints.append("'resource' takes tokens alone: use 'require: token'") }
        if route.webSocket { complaints.append("'resource' takes no WebSockets: remove 'websocket'") }
        if route.forwardAuthorization {
            complaints.append("a resource's token is never passed on: remove 'forward_authorization'")
        }
        if route.cors == .upstream {
            complaints.append("the gateway answers the preflights of a resource: remove 'cors: upstream'")
        }
        for scope in route.scopes where !resource.scopes.contains(where: { $0 == scope }) {
            complaints.append("'scopes' needs '\(scope)', which 'resource.scopes' does not offer: add it there")
        }
        return complaints
    }

    /// Faults that involve several keys of a route: keys that contradict each other.
    private static func complaints(about route: RouteConfiguration) -> [String] {
        var complaints: [String] = []
        let provesToken = route.require == .token || route.require == .tokenAndSession
        if !route.scopes.isEmpty, !provesToken {
            complaints.append("'scopes' are read from a token: use 'require: token' or 'token+session'")
        }
        complaints += contradictions(of: route)
        complaints += contradictions(of: route.allow, require: route.require)
        if route.fresh != nil || !route.acr.isEmpty, route.require == .none {
            complaints.append("'fresh' and 'acr' need a caller: use 'require: token', 'session' or 'token+session'")
        }
        let isRemote = route.upstreams.map { $0.hasPrefix("https:") }
        if isRemote.contains(true), isRemote.contains(false) {
            complaints.append("'upstream' mixes https with plain connections: use one kind")
        }
        if route.upstreamTLS != .init(), !route.reachesTLS {
            complaints.append("'upstream_ca' and its like are for https upstreams: remove them, or use https")
        }
        if !route.upstreams.isEmpty, GatewayPaths.keep(route.path) {
            complaints.append("the gateway keeps this path for itself, so nothing would be forwarded: use another")
        }
        if (route.upstreamTLS.certificate == nil) != (route.upstreamTLS.key == nil) {
            complaints.append("'upstream_certificate' and 'upstream_key' go together: add the other, or remove both")
        }
        return complaints
    }

    private static func contradictions(
        of allow: RouteConfiguration.Allow, require: RouteConfiguration.Requirement
    ) -> [String] {
        switch require {
        case .none where allow != .init():
            ["'allow' has to know the caller: use 'require: token', 'session' or 'token+session'"]
        case .session where allow.readsToken:
            ["'allow.scopes_any' and 'allow.clients' are read from a token: use 'require: token' or 'token+session'"]
        case .none, .session, .token, .tokenAndSession: []
        }
    }

    private static func overlaps(_ a: RouteConfiguration, _ b: RouteConfiguration) -> Bool {
        guard a.path == b.path, a.host == b.host else { return false }
        guard let first = a.methods, let second = b.methods else { return a.methods == nil && b.methods == nil }
        return !Set(first).isDisjoint(with: second)
    }

    static func entries<Root>(
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
