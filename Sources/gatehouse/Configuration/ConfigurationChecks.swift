import AuthorizationServer
import EdgeConfiguration
import Experience
import Foundation

/// Checks that involve several keys, and warnings.
enum ConfigurationChecks {
    /// Judges the values together: what contradicts each other, and what is allowed but worth a warning.
    static func check(
        _ draft: inout ConfigurationDraft, place: String, faults: inout [ConfigurationFault],
        warnings: inout [ConfigurationFault]
    ) {
        draft.joinTLS()
        faults += CertificateSettings.faults(of: draft, place: place)
        var rules = ConfigurationRules(draft, place: place)
        rules.judgeListeners()
        rules.judgeFiles()
        rules.judgeResources()
        rules.judgeResourceIdentifiers()
        rules.judgeTokens()
        faults += rules.faults
        warnings += remarks(on: draft.configuration, place: place)
    }

    /// What is allowed, and probably not meant.
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
            if issuer.issuer.hasPrefix("http:") || issuer.jwks?.hasPrefix("http:") == true {
                remark("issuers[\(index)]", "not https: everyone on the way can sign for this issuer")
            }
            if issuer.tenants.isEmpty {
                remark("issuers[\(index)].tenants", "lists no tenant, so none of its tokens are exchanged")
            }
        }
        for (index, receiver) in configuration.events.enumerated() {
            guard let url = URLText(receiver.url), url.scheme == "http", !receiver.allowPrivate else { continue }
            remark("events[\(index)].url", "not https: everybody on the way can read the events")
        }
        if !configuration.limits.enabled {
            remark("limits.enabled", "false: nothing slows down guessed passwords")
        }
        return remarks
    }
}
