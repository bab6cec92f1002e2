import EdgeConfiguration

/// Asks the running gateway through its admin listener.
enum DoctorGateway {
    /// Nil if there is no listener, or nothing answers there.
    static func ask(_ admin: ListenAddress?) async -> DoctorFacts.Gateway? {
        guard let admin else { return nil }
        let origin =
            admin.path.map { "http+unix://\($0.replacing("%", with: "%25").replacing("/", with: "%2F"))" }
            ?? "http://\(ListenAddress(host: reachable(admin.host), port: admin.port))"
        guard case .answered(let readiness, _) = await DoctorFetch.get("\(origin)/readyz"),
            case .answered(200, let text) = await DoctorFetch.get("\(origin)/metrics")
        else { return nil }
        return DoctorFacts.Gateway(readiness: readiness, samples: samples(text))
    }

    /// A listener on all addresses is reached at this machine's own.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    /// Reads the text format of Prometheus; lines that are no samples are skipped.
    static func samples(_ text: [UInt8]) -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            samples[String(line[..<space])] = value
        }
        return samples
    }
}
