import EdgeConfiguration
import Testing

@testable import gatehouse

/// What the file can say and what `GatewayConfiguration` can say are the same. That a program can say it too, through
/// public properties, is held by `AdopterTests`.
@Suite("Every key of the configuration") struct EveryKeyTests {
    @Test("Each key of the file stands for one property, and each property for one key")
    func keys() {
        var properties = Self.names(in: GatewayConfiguration())
        // A passphrase stands in no file, and the certificate and its key are one optional property.
        properties.subtract(["keys.passphrase", "server.tls", "routes", "issuers"])
        properties.formUnion(["server.tls.certificate", "server.tls.key"])
        #expect(properties == Set(GatewaySettings.all.map(\.key)))
    }

    @Test("So do the keys of a route and of an issuer")
    func entries() {
        var route = Self.names(in: RouteConfiguration(path: "/"))
        route.remove("upstreams")
        route.insert("upstream")
        for name in ["ca", "name", "certificate", "key"] {
            route.remove("upstream_tls.\(name)")
            route.insert("upstream_\(name)")
        }
        #expect(route == Set(RouteSettings.all.map(\.key)))
        let issuer = Self.names(in: IssuerConfiguration(issuer: "", jwks: "", audience: []))
        #expect(issuer == Set(IssuerSettings.all.map(\.key)))
    }

    /// The stored properties, as the file spells them.
    private static func names(in value: Any, under prefix: String = "") -> Set<String> {
        var names: Set<String> = []
        for child in Mirror(reflecting: value).children {
            let name = prefix + spelled(child.label ?? "")
            let mirror = Mirror(reflecting: child.value)
            if mirror.displayStyle == .struct, !mirror.children.isEmpty, !(child.value is ListenAddress) {
                names.formUnion(self.names(in: child.value, under: name + "."))
            } else {
                names.insert(name)
            }
        }
        return names
    }

    /// `maxBody` as `max_body`; `webSocket` and `loginURL` are words of the file with a spelling of their own.
    private static func spelled(_ label: String) -> String {
        let words = ["webSocket": "websocket", "loginURL": "login_url", "upstreamTLS": "upstream_tls"]
        if let word = words[label] { return word }
        return label.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}
