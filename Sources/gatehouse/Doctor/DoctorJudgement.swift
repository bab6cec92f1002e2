import EdgeConfiguration
import EdgeCore
import Experience

/// Judges a deployment by its configuration and by what was seen of it. Pure: each check is a function of both.
struct DoctorJudgement {
    let loaded: LoadedConfiguration
    let facts: DoctorFacts

    var configuration: GatewayConfiguration { loaded.configuration }

    /// All checks, in the order of the report.
    var findings: [DoctorFinding] {
        let judged =
            file + secretFiles + keys + store + postgres + gateway + limits + issuer + certificate + exposure + origins
            + callers + dependencies + audit + disks
        return warnings(besides: judged) + judged
    }

    // MARK: What the configuration alone tells

    /// The loader's warnings, without those of keys that a check has found wrong.
    private func warnings(besides judged: [DoctorFinding]) -> [DoctorFinding] {
        loaded.warnings.compactMap { warning in
            // A variable that sets no key has its name as its place.
            if warning.key.isEmpty { return .note("config", "", "\(warning.place) \(warning.message)") }
            let isJudged = judged.contains { $0.level == .wrong && $0.key == warning.key }
            return isJudged ? nil : .note("config", warning.key, warning.message)
        }
    }

    /// Whether other machines can reach the public listener.
    var isPublic: Bool { Self.reach(of: configuration.server.listen) != .machine }

    /// Whether the admin listener can be reached from outside, and settings that are unsafe on a public listener.
    private var exposure: [DoctorFinding] {
        var found: [DoctorFinding] = []
        if let admin = configuration.server.admin {
            switch Self.reach(of: admin) {
            case .machine: found.append(.good("admin", "the admin listener is reached from this machine only"))
            case .network:
                found.append(
                    .note(
                        "admin", "server.admin",
                        "listens on a private network, where everyone can read metrics and "
                            + "reload", "keep it behind a firewall, or use 127.0.0.1:\(admin.port)"))
            case .everyone:
                found.append(
                    .wrong(
                        "admin", "server.admin", "\(admin) can be reached from other machines",
                        "use 127.0.0.1:\(admin.port), a private address, or unix:/PATH"))
            }
        }
        if isPublic, configuration.errors.explain {
            found.append(
                .wrong(
                    "config", "errors.explain", "true tells attackers why they are refused", "remove it, or set false"))
        }
        if isPublic, !configuration.limits.enabled {
            found.append(
                .wrong("config", "limits.enabled", "false: nothing slows down guessed passwords", "remove it"))
        }
        return found
    }

    /// `server.allowed_origins`: loopback origins beside an `https` issuer, origins without TLS, and the gateway's own.
    private var origins: [DoctorFinding] {
        var found: [DoctorFinding] = []
        let isSecure = configuration.tokens.issuer?.hasPrefix("https:") == true
        for origin in configuration.server.allowedOrigins {
            guard let url = URLText(origin) else { continue }
            if Self.isLoopbackName(url.host) {
                if isSecure {
                    found.append(
                        .note(
                            "origins", "server.allowed_origins", "\(origin) is the visitor's own machine",
                            "remove it unless pages are developed against this gateway"))
                }
            } else if url.scheme == "http" {
                found.append(
                    .wrong(
                        "origins", "server.allowed_origins",
                        "\(origin) is not https: others on the way can change its pages, which may use the API",
                        "serve it by https, and write https://\(url.host)"))
            }
            if let issuer = configuration.tokens.issuer.flatMap(URLText.init), issuer.origin == url.origin {
                found.append(
                    .note("origins", "server.allowed_origins", "\(origin) is the gateway's own", "it may be removed"))
            }
        }
        return found
    }

    /// Whether all callers seem to be one proxy whose forwarded headers are ignored.
    private var callers: [DoctorFinding] {
        let callers = facts.callers
        guard callers.seen >= 50, callers.ofCommonest * 100 >= callers.seen * 95,
            let address = PackedAddress.bytes(of: callers.commonest),
            Self.reach(of: callers.commonest) != .everyone,
            !configuration.server.trustedProxies.compactMap(AddressBlock.init).contains(where: { $0.contains(address) })
        else { return [] }
        return [
            .note(
                "proxies", "server.trusted_proxies",
                "\(callers.ofCommonest) of the last \(callers.seen) requests came from \(callers.commonest)",
                "if that is your proxy, list it: its clients share one rate limit until then")
        ]
    }

    // MARK: Files

    /// Whether the configuration file holds secrets that every user of the machine can read.
    private var file: [DoctorFinding] {
        guard let file = facts.file, file.mode & 0o004 != 0 else { return [] }
        var secrets: [String] = []
        if loaded.stateURLFile == nil, loaded.place(of: "state.url").hasPrefix(file.path),
            URLText.redacted(configuration.state.url) != configuration.state.url
        {
            secrets.append("state.url")
        }
        secrets += secretKeys(of: configuration.identityProviders, "identity_providers", ProviderSettings.all)
        secrets += secretKeys(of: configuration.routes, "routes", RouteSettings.all)
        secrets += secretKeys(of: configuration.events, "events", EventSettings.all)
        secrets += secretKeys(of: configuration.issuers, "issuers", IssuerSettings.all)
        // Any path of a webhook is hidden, and most are no secret.
        let paths = Set(
            configuration.events.enumerated()
                .filter { URLText.withoutValues($0.element.url) == $0.element.url }.map { "events[\($0.offset)].url" })
        let advice = "chmod 640 \(file.path)"
        return secrets.map { key in
            guard paths.contains(key) else {
                return .wrong("config", key, "holds a secret in a file that everyone can read", advice)
            }
            return .note("config", key, "everyone can read its path, which may be a secret", advice)
        }
    }

    /// The keys of a list's entries whose values hold a secret and stand in the configuration itself, and not in a file
    /// of their own.
    private func secretKeys<Root: Equatable>(
        of roots: [Root], _ list: String, _ settings: [Setting<Root>]
    ) -> [String] {
        roots.enumerated().flatMap { index, root in
            settings.filter { $0.isSecret && $0.hidesValue(of: root) }.map { "\(list)[\(index)].\($0.key)" }
        }.filter { loaded.places[$0] != nil && loaded.secretFiles.file(of: $0) == nil }
    }

    /// Whether the files that hold one secret each can be read by every user of the machine.
    private var secretFiles: [DoctorFinding] {
        facts.secretFiles.filter { $0.entry.mode & 0o004 != 0 }.map { file in
            .wrong(
                "config", file.key, "\(file.entry.path) holds a secret, and everyone can read it",
                "chmod 640 \(file.entry.path)")
        }
    }

    /// The permissions of the key directory and of its files, and whether there is a key.
    private var keys: [DoctorFinding] {
        guard let directory = facts.keys.directory else {
            return [
                .note(
                    "keys", "keys.directory", "\(configuration.keys.directory) does not exist",
                    "the first start makes it; on another node of a running fleet, copy it from there")
            ]
        }
        var found: [DoctorFinding] = []
        let pems = facts.keys.files.filter { $0.path.hasSuffix(".pem") }
        if directory.mode & 0o022 != 0 {
            found.append(
                .wrong(
                    "keys", "keys.directory", "others can put keys into \(directory.path)",
                    "chmod 700 \(directory.path)"))
        }
        for key in pems where key.mode & 0o077 != 0 {
            found.append(
                .wrong("keys", "keys.directory", "\(key.path) can be read by others", "chmod 600 \(key.path)"))
        }
        for key in facts.keys.files where !key.isReadable {
            found.append(
                .wrong(
                    "keys", "keys.directory", "\(key.path) can't be read by this user",
                    "run as the gateway's user, or correct its owner"))
        }
        if pems.isEmpty {
            found.append(
                .note("keys", "keys.directory", "\(directory.path) holds no key", "the first start makes one"))
        }
        return found.isEmpty ? [.good("keys", "keys in \(directory.path): \(pems.count)")] : found
    }

    /// Whether there is an audit log and its chain is whole.
    private var audit: [DoctorFinding] {
        switch facts.audit {
        case .off:
            [.note("audit", "audit.file", "off: refusals and logins leave no record", "name a file")]
        case .missing(let path):
            [.note("audit", "audit.file", "\(path) does not exist yet", "its directory must exist")]
        case .unreadable(let why):
            [.wrong("audit", "audit.file", why, "run as the gateway's user, or correct the path")]
        case .broken(let why):
            [.wrong("audit", "audit.file", why, "keep the file, and find out who changed it")]
        case .whole(let lines): [.good("audit", "the chain of \(lines) lines is whole")]
        }
    }

    /// The free room of each disk: wrong below 256 MiB, a note below 1 GiB or 5 %.
    private var disks: [DoctorFinding] {
        facts.disks.map { disk in
            let percent = disk.total == 0 ? 100 : Int(Double(disk.free) / Double(disk.total) * 100)
            let key = disk.keys.first ?? ""
            let others = disk.keys.dropFirst().map { ", and for \($0)" }.joined()
            let room = "\(disk.free >> 20) MiB (\(percent) %) are free at \(disk.path)\(others)"
            if disk.free < 256 << 20 { return .wrong("disk", key, room, "make room, or move it") }
            if disk.free < 1 << 30 || percent < 5 { return .note("disk", key, room, "make room") }
            return .good("disk", room)
        }
    }
}
