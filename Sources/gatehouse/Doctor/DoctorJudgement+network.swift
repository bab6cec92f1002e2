import EdgeConfiguration
import EdgeCore
import Encodings
import IdentityProviders
import JOSE

extension DoctorJudgement {
    /// The part of the network from which a listener or an address can be reached.
    enum Reach: Equatable {
        case machine
        case network
        case everyone
    }

    /// A Unix socket is reached from this machine alone.
    static func reach(of address: ListenAddress) -> Reach {
        address.path != nil ? .machine : reach(of: address.host)
    }

    /// By the address alone: a private network is one that the internet does not route. Names, and addresses that stand
    /// for no one machine, such as `0.0.0.0`, are reached by everyone.
    static func reach(of host: String) -> Reach {
        if isLoopbackName(host) { return .machine }
        switch IPAddress(host)?.reach {
        case .loopback: return .machine
        case .linkLocal, .privateUse: return .network
        case .global, .reserved, nil: return .everyone
        }
    }

    /// Whether the host of a URL names this machine: `localhost`, a name below it, or a loopback address.
    static func isLoopbackName(_ host: String) -> Bool {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return PackedAddress.isLoopback(host: isBracketed ? String(host.dropFirst().dropLast()) : host)
            || host.hasSuffix(".localhost")
    }

    /// The running gateway: whether it is ready, has reached its upstreams, has this command's version and writes its
    /// log.
    var gateway: [DoctorFinding] {
        guard let gateway = facts.gateway else {
            guard let admin = configuration.server.admin else {
                return [.note("gateway", "server.admin", "off, so the running gateway can't be asked")]
            }
            return [
                .note("gateway", "server.admin", "no gateway answers at \(admin)", "what it does was not looked at")
            ]
        }
        var found: [DoctorFinding] = []
        if gateway.readiness != 200 {
            found.append(
                .wrong(
                    "gateway", "", "it is not ready: /readyz answers \(gateway.readiness)",
                    "see its log: the store is not reachable, or it is stopping"))
        }
        for (name, value) in gateway.samples.sorted(by: { $0.key < $1.key })
        where name.hasPrefix("gatehouse_upstream_up{") && value == 0 {
            found.append(
                .wrong(
                    "gateway", "routes", "its last connection to an upstream failed: \(name.dropFirst(21))",
                    "start the upstream, or correct its address"))
        }
        let version = gateway.samples.keys.first { $0.hasPrefix("gatehouse_build_info{") }
        if let version, !version.contains("\"\(Version.current)\"") {
            found.append(
                .note(
                    "gateway", "", "it runs another version than this command (\(Version.current))",
                    "restart it to use the installed one"))
        }
        if let dropped = gateway.value("gatehouse_log_lines_dropped_total"), dropped > 0 {
            found.append(
                .note(
                    "gateway", "log.access", "it has dropped \(Int(clamping: Int64(dropped))) log lines",
                    "look at the disk, at what reads standard error, and at the collector of traces"))
        }
        return found.isEmpty ? [.good("gateway", "it runs and is ready")] : found
    }

    /// Whether descriptors suffice for what the configuration admits.
    var limits: [DoctorFinding] {
        guard let gateway = facts.gateway, let most = gateway.value("process_max_fds"),
            let open = gateway.value("process_open_fds")
        else { return [] }
        let advice = "raise LimitNOFILE of the service (ulimit -n)"
        // A relayed connection takes two; stores, logs and listeners take some as well.
        if let connections = configuration.server.maxConnections, Double(connections) * 2 + 100 > most {
            return [
                .wrong(
                    "limits", "server.max_connections",
                    "\(connections) connections need up to \(connections * 2 + 100) descriptors, and the limit is "
                        + "\(Int(most))", "\(advice), or lower it")
            ]
        }
        if open > most * 0.8 {
            return [.wrong("limits", "", "\(Int(open)) of \(Int(most)) descriptors are open", advice)]
        }
        if most < 10_000 { return [.note("limits", "", "at most \(Int(most)) descriptors may be open", advice)] }
        return [.good("limits", "\(Int(open)) of \(Int(most)) descriptors are open")]
    }

    /// `tokens.issuer`: whether clients reach this gateway by it.
    var issuer: [DoctorFinding] {
        guard let issuer = configuration.tokens.issuer, let url = URLText(issuer) else {
            guard isPublic else { return [] }
            return [
                .wrong(
                    "issuer", "tokens.issuer", "is not set, so tokens name the address that is listened on",
                    "set the URL that clients use")
            ]
        }
        var found: [DoctorFinding] = []
        if url.scheme != "https", !Self.isLoopbackName(url.host) {
            found.append(
                .wrong(
                    "issuer", "tokens.issuer",
                    "is not https: tokens can be read on the way, and browsers get no cookies",
                    "write https://, and give the gateway server.tls or a proxy with TLS"))
        }
        switch facts.issuer {
        case nil: break
        case .failed(let why):
            found.append(
                .wrong(
                    "issuer", "tokens.issuer", "\(issuer) can't be reached from here: \(why)",
                    "correct it, or DNS, or the proxy before the gateway"))
        case .answered(let status, let body):
            let named = (try? StrictJSON.object(body))?["issuer"]?.stringValue
            if status != 200 || named == nil {
                found.append(
                    .wrong(
                        "issuer", "tokens.issuer", "what answers at \(issuer) is no gateway (status \(status))",
                        "correct it, or the proxy before the gateway"))
            } else if let named, !named.hasSameBytes(as: issuer) {
                found.append(
                    .wrong(
                        "issuer", "tokens.issuer",
                        "the gateway at \(issuer) calls itself \(TerminalText.escaped(String(named.prefix(200))))",
                        "give both the same issuer"))
            } else {
                found.append(.good("issuer", "\(issuer) is answered by a gateway of this name"))
            }
        }
        return found
    }

    /// `server.tls`: the leaf's validity and names. Whether key and certificate fit is judged with the configuration.
    var certificate: [DoctorFinding] {
        guard let certificate = facts.certificate else { return [] }
        let now = facts.now / 1_000
        let days = (certificate.notAfter - now) / 86_400
        let key = "server.tls.certificate"
        var found: [DoctorFinding] = []
        if now < certificate.notBefore {
            found.append(.wrong("tls", key, "the certificate is not valid yet", "correct the clock, or wait"))
        } else if now >= certificate.notAfter {
            found.append(.wrong("tls", key, "the certificate has expired", "renew it; it is read again by itself"))
        } else if days < 14 {
            found.append(.wrong("tls", key, "the certificate expires in \(days) days", "see why it was not renewed"))
        } else if days < 30 {
            found.append(.note("tls", key, "the certificate expires in \(days) days"))
        }
        if let host = configuration.tokens.issuer.flatMap(URLText.init)?.host,
            !certificate.names.contains(where: { Self.covers($0, host) })
        {
            found.append(
                .wrong(
                    "tls", key,
                    "the certificate is for \(certificate.names.prefix(5).joined(separator: ", ")) and not "
                        + "for \(host)", "use one with the name of tokens.issuer"))
        }
        return found.isEmpty ? [.good("tls", "the certificate is valid for \(days) days")] : found
    }

    /// Whether a name of a certificate covers a host; `*` stands for one whole label (RFC 9525, section 6.3).
    static func covers(_ name: String, _ host: String) -> Bool {
        let (name, host) = (name.lowercased(), host.lowercased())
        if name == host || "[\(name)]" == host { return true }
        guard name.hasPrefix("*."), let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
        return host[dot...] == name.dropFirst()
    }

    /// Upstreams, the Runtime, identity providers, issuers, the trace collector.
    var dependencies: [DoctorFinding] {
        facts.dependencies.map { dependency in
            let (check, key) = (dependency.check, dependency.key)
            let target = TerminalText.escaped(URLText.withoutValues(dependency.target))
            switch (dependency.answer, dependency.kind) {
            case (.failed(let why), _):
                return .wrong(check, key, "\(target): \(why)", "start it, or correct its address")
            case (.answered, .connection): return .good(check, "\(target) takes connections")
            case (.answered(let status, _), _) where status != 200:
                return .wrong(check, key, "\(target) answers \(status)", "correct the address")
            case (.answered(_, let body), .discovery(let issuer)):
                let named = (try? StrictJSON.object(body))?["issuer"]?.stringValue
                guard let named, named.hasSameBytes(as: issuer) else {
                    let other = named.map { TerminalText.escaped(String($0.prefix(200))) } ?? "nothing"
                    return .wrong(check, key, "\(target) names the issuer \(other)", "write the issuer as it does")
                }
                return .good(check, "\(target) is the metadata of its issuer")
            case (.answered(_, let body), .keySet):
                guard (try? StrictJSON.object(body))?["keys"]?.arrayValue?.isEmpty == false else {
                    return .wrong(check, key, "\(target) is no key set", "correct the address")
                }
                return .good(check, "\(target) has keys")
            }
        }
    }
}
