import EdgeConfiguration
import EdgeCore
import Experience
import Proxy

/// Reads the two lists of mappings: `routes` and `issuers`.
enum RouteReader {
    /// Reads a file that a route names; nil if it does not exist.
    typealias Files = (String) throws(ConfigurationFault) -> [UInt8]?

    static func routes(
        _ value: FileValue, files: Files, faults: inout [ConfigurationFault]
    ) -> [RouteConfiguration] {
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
        for (index, element) in (value.list ?? []).enumerated() {
            checkFiles(of: element, label: "routes[\(index)]", files: files, faults: &faults)
        }
        return routes.map(\.value)
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

    /// Faults that involve several keys of a route: keys that contradict each other.
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
