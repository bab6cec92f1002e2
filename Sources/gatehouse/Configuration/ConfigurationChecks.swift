import EdgeConfiguration
import Experience

/// Checks that involve several keys, and warnings.
enum ConfigurationChecks {
    static func check(
        _ draft: inout ConfigurationDraft, place: String, faults: inout [ConfigurationFault],
        warnings: inout [ConfigurationFault]
    ) {
        switch (draft.certificate, draft.certificateKey) {
        case (nil, nil): draft.configuration.server.tls = nil
        case (let certificate?, let key?):
            draft.configuration.server.tls = .init(certificate: certificate, key: key)
        case (nil, _?), (_?, nil):
            faults.append(
                .init(
                    place: place, key: "server.tls",
                    message: "TLS needs both 'certificate' and 'key': add the other, or remove both"))
        }
        let configuration = draft.configuration
        let listen = configuration.server.listen
        if listen.port != 0 || listen.path != nil, configuration.server.admin == listen {
            faults.append(
                .init(
                    place: place, key: "server.admin",
                    message: "must not be the public listener: use another port or path"))
        }
        if configuration.server.proxyProtocol, configuration.server.trustedProxies.isEmpty {
            faults.append(
                .init(
                    place: place, key: "server.proxy_protocol",
                    message: "needs server.trusted_proxies: without it every connection is reset; list the balancers"))
        }
        if configuration.tokens.audience.isEmpty {
            faults.append(.init(place: place, key: "tokens.audience", message: "expected at least one name"))
        }
        warnings += remarks(on: configuration, place: place)
    }

    private static func remarks(on configuration: GatewayConfiguration, place: String) -> [ConfigurationFault] {
        var remarks: [ConfigurationFault] = []
        func remark(_ key: String, _ message: String) {
            remarks.append(.init(place: place, key: key, message: message))
        }
        if let issuer = configuration.tokens.issuer, issuer.hasPrefix("http:") {
            remark("tokens.issuer", "not https: good for development only")
        }
        if configuration.tokens.issuer == nil, configuration.server.listen.path != nil {
            remark("tokens.issuer", "a Unix socket has no URL, so http://localhost stands for it: name the public one")
        }
        for (index, issuer) in configuration.issuers.enumerated() {
            if issuer.issuer.hasPrefix("http:") || issuer.jwks.hasPrefix("http:") {
                remark("issuers[\(index)]", "not https: whoever is on the way can sign for this issuer")
            }
            if issuer.tenants.isEmpty {
                remark("issuers[\(index)].tenants", "lists no tenant, so none of its tokens are exchanged")
            }
        }
        if !configuration.limits.enabled {
            remark("limits.enabled", "false: nothing slows down guessed passwords")
        }
        return remarks
    }
}
