import EdgeConfiguration
import EdgeCore
import Encodings
import Gate
import Passkeys

extension RelyingParty {
    /// The gateway as WebAuthn knows it: the RP ID is `passkeys.rp_id`, or the host of `tokens.issuer`. The pages of
    /// the issuer's origin may use passkeys, and those of `server.allowed_origins` on the RP ID's host or below it.
    ///
    /// WebAuthn takes no addresses as RP IDs. An issuer on a loopback address has the RP ID `localhost`, so its pages
    /// have to be opened under that name; for every other address there is no relying party.
    ///
    /// - Parameter issuer: a URL; what counts is its origin.
    /// - Parameter id: `passkeys.rp_id`; nil for the issuer's host.
    /// - Parameter allowedOrigins: `server.allowed_origins`. Those on other hosts are passed over.
    /// - Returns: nil where the issuer's host is none that WebAuthn takes, or its pages may not use the RP ID.
    init?(issuer: String, id wanted: String? = nil, allowedOrigins: [String]) {
        guard let own = OriginPolicy.origin(of: issuer), let place = OriginPlace(own) else { return nil }
        let id: String
        var origins = [own]
        if place.isLoopback {
            guard wanted?.hasSameBytes(as: "localhost") ?? true else { return nil }
            id = "localhost"
            origins.append("\(place.scheme)://localhost\(place.port)")
        } else {
            guard !place.isAddress else { return nil }
            id = wanted ?? place.host
            guard PasskeysConfiguration.mayUse(id, issuer: own) else { return nil }
        }
        origins += allowedOrigins.compactMap(OriginPolicy.origin(of:)).filter { origin in
            guard let host = OriginPlace(origin)?.host else { return false }
            return host.hasSameBytes(as: id) || host.utf8.reversed().starts(with: ".\(id)".utf8.reversed())
        }
        self.init(id: id, name: id, origins: origins)
    }
}

/// The parts of an origin.
private struct OriginPlace {
    let scheme: String
    /// Without the brackets of an IPv6 address.
    let host: String
    /// With its colon; empty for the scheme's own.
    let port: String

    init?(_ origin: String) {
        guard let mark = origin.firstRange(of: "://") else { return nil }
        scheme = String(origin[..<mark.lowerBound])
        let authority = origin[mark.upperBound...]
        let afterBrackets = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[afterBrackets...].firstIndex(of: ":") ?? authority.endIndex
        port = String(authority[colon...])
        let name = authority[..<colon]
        host = String(name.hasPrefix("[") && name.hasSuffix("]") ? name.dropFirst().dropLast() : name)
        guard !host.isEmpty else { return nil }
    }

    var isAddress: Bool { PackedAddress.bytes(of: host) != nil }

    var isLoopback: Bool { PackedAddress.isLoopback(host: host) }
}
