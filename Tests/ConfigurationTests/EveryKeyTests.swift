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
        properties.subtract(["keys.passphrase", "server.tls", "routes", "issuers", "identity_providers", "events"])
        let tls = GatewayConfiguration.TLS(certificate: "", key: "")
        properties.formUnion(Self.names(in: tls, under: "server.tls."))
        // A file may hold the store's URL, which then is that property.
        properties.insert("state.url_file")
        #expect(properties == Set(GatewaySettings.all.map(\.key)))
    }

    @Test("So do the keys of a route, of an issuer and of a receiver of events")
    func entries() {
        var route = Self.names(in: RouteConfiguration(path: "/"))
        route.remove("upstreams")
        // The one route that the gateway adds itself is not configured.
        route.remove("serves_runtime")
        route.insert("upstream")
        for name in ["ca", "name", "certificate", "key"] {
            route.remove("upstream_tls.\(name)")
            route.insert("upstream_\(name)")
        }
        route.subtract(["resource", "health", "outlier", "retry", "limit"])
        route.formUnion(Self.names(in: RouteConfiguration.Resource(), under: "resource."))
        route.formUnion(Self.names(in: RouteConfiguration.Health(), under: "health."))
        route.formUnion(Self.names(in: RouteConfiguration.Outlier(), under: "outlier."))
        route.formUnion(Self.names(in: RouteConfiguration.Retry(), under: "retry."))
        route.formUnion(Self.names(in: RouteConfiguration.Limit(), under: "limit."))
        #expect(route == Set(RouteSettings.all.map(\.key)))
        let issuer = Self.names(in: IssuerConfiguration(issuer: "", jwks: "", audience: []))
        #expect(issuer == Set(IssuerSettings.all.map(\.key)))
        let provider = Self.names(in: IdentityProviderConfiguration(name: "", issuer: "", clientID: ""))
        #expect(provider == Set(ProviderSettings.all.map(\.key)))
        let receiver = Self.names(in: EventReceiverConfiguration(url: "", events: []))
        #expect(receiver == Set(EventSettings.all.map(\.key)))
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
        let words = [
            "webSocket": "websocket", "loginURL": "login_url", "upstreamTLS": "upstream_tls", "clientID": "client_id",
            "clientCA": "client_ca", "rpID": "rp_id", "userInfo": "userinfo", "userInfoEndpoint": "userinfo_endpoint",
        ]
        if let word = words[label] { return word }
        return label.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}
