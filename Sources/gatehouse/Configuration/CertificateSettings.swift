import EdgeConfiguration

/// `server.tls.certificates`: a list of mappings.
enum CertificateSettings {
    /// The key is of the file alone: flags and variables have no form for a list of mappings.
    static let key = "server.tls.certificates"
    /// How many certificates there may be.
    private static let most = 1_000

    static let certificates = Setting<ConfigurationDraft>(
        key: key, shape: .records,
        set: { draft, entries throws(Complaint) in
            draft.certificates = try read(entries)
        },
        show: { draft in
            .records(
                draft.certificates.map { entry in
                    [
                        NamedTexts(name: "hosts", texts: entry.hosts),
                        NamedTexts(name: "certificate", texts: [entry.certificate]),
                        NamedTexts(name: "key", texts: [entry.key]),
                    ]
                }, lists: ["hosts"])
        },
        keep: { running, next in
            let hasChanged = running.certificates != next.certificates
            next.certificates = running.certificates
            return hasChanged
        })

    /// The certificates of the list, at most ``most``.
    private static func read(
        _ entries: [SettingEntry]
    ) throws(Complaint) -> [GatewayConfiguration.NamedCertificate] {
        var made: [GatewayConfiguration.NamedCertificate] = []
        for (index, entry) in entries.enumerated() {
            guard let record = entry.record, record < most else {
                throw Complaint("is a list of mappings, which only the file can hold; at most \(most)")
            }
            while made.count <= record { made.append(.init(hosts: [], certificate: "", key: "")) }
            switch entry.name {
            case "hosts": made[record].hosts.append(try host(entry.text, index))
            case "certificate": made[record].certificate = entry.text
            case "key": made[record].key = entry.text
            default: throw Complaint("expected the keys hosts, certificate and key", index: index)
            }
        }
        let isWhole = made.allSatisfy { !$0.hosts.isEmpty && !$0.certificate.isEmpty && !$0.key.isEmpty }
        guard isWhole else { throw Complaint("expected hosts, certificate and key in each entry") }
        let hosts = made.flatMap(\.hosts)
        guard Set(hosts).count == hosts.count else { throw Complaint("a host has two certificates: keep one") }
        return made
    }

    /// A host name in lower case, or `*.` and one.
    private static func host(_ text: String, _ index: Int) throws(Complaint) -> String {
        let isWildcard = text.hasPrefix("*.")
        let name = isWildcard ? String(text.dropFirst(2)) : text
        guard !name.hasPrefix("["), let host = ValueFormat<String>.hostName.read(name) else {
            throw Complaint("expected a host name such as shop.example or *.shop.example", index: index)
        }
        // RFC 6066 section 3: literal addresses are not permitted in the name of a handshake.
        guard !NetworkText.isIPv4(host) else {
            throw Complaint(
                "no client names an address in the handshake: use a host name, or server.tls.certificate", index: index)
        }
        return isWildcard ? "*." + host : host
    }

    /// What `server.tls` needs beside these keys, and what routes need of it.
    static func faults(of draft: ConfigurationDraft, place: String) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        let isOn = draft.certificate != nil && draft.certificateKey != nil
        if !draft.certificates.isEmpty, !isOn {
            let message = "needs server.tls.certificate and server.tls.key, for all other hosts"
            faults.append(.init(place: draft.places[key] ?? place, key: key, message: message))
        }
        if draft.clientCA != nil, !isOn {
            let message = "needs server.tls.certificate and server.tls.key: client certificates are shown over TLS"
            let name = "server.tls.client_ca"
            faults.append(.init(place: draft.places[name] ?? place, key: name, message: message))
        }
        for (index, route) in draft.configuration.routes.enumerated()
        where route.clientCertificate == .required && (draft.clientCA == nil || !isOn) {
            let message = "needs server.tls.client_ca, which says whose certificates are accepted"
            let key = "routes[\(index)].client_certificate"
            faults.append(.init(place: draft.places.nearest(to: key) ?? place, key: key, message: message))
        }
        return faults
    }
}
