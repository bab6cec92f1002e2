import Foundation
import HostileTokens
import JOSE

/// What an attack is aimed at: taken from a URL, and checked before anything is sent.
struct AttackAim {
    let host: String
    let port: Int
    let origin: String
    let path: String
    let isLoopback: Bool

    init(_ text: String, path: String?) throws(CommandFailure) {
        guard let url = URLText(text), url.userInformation == nil, url.fragment == nil, !url.host.isEmpty else {
            throw CommandFailure("\(URLText.redacted(text)): not a URL: write http://HOST:PORT", status: .misused)
        }
        guard url.scheme == "http" else {
            throw CommandFailure("\(url.scheme): attacks go over http only: aim behind the TLS", status: .misused)
        }
        // Within brackets for the Host field, without them for connecting.
        host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        port = Int(url.port ?? 80)
        origin = url.origin
        isLoopback = Loopback.contains(host: url.host)
        let given = url.path.isEmpty || url.path == "/" ? "/api/auth/me" : url.path
        self.path = path ?? given
        guard self.path.hasPrefix("/"), self.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw CommandFailure("--path: it begins with a slash and holds visible ASCII only", status: .misused)
        }
    }

    /// The `Host` field.
    var authority: String { String(origin.dropFirst("http://".count)) }
}

/// The good token: from the command line, the environment, or standard input.
enum GoodToken {
    static let variable = "GATEHOUSE_ATTACK_TOKEN"

    static func read(_ option: String?) throws -> [UInt8] {
        if let option, option != "-" { return Array(option.utf8) }
        if option == nil, let value = ProcessInfo.processInfo.environment[variable], !value.isEmpty {
            return Array(value.utf8)
        }
        guard option == "-" || !Terminal.isInteractive else {
            throw CommandFailure(
                "no good token: give --token, pipe it in, or set \(variable)", status: .misused)
        }
        guard let bytes = try Terminal.input(limit: TokenInput.limit) else {
            throw CommandFailure("more than \(Quantity.size(TokenInput.limit)) on standard input", status: .misused)
        }
        let token = bytes.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard !token.isEmpty else {
            throw CommandFailure("no good token on standard input: give --token or set \(variable)", status: .misused)
        }
        return token
    }
}

/// The keys that the target publishes.
enum PublishedKeys {
    private static let limit = 256 * 1_024

    /// Fetches the set that was named, or the usual one of the target; nil if that one is not there.
    static func fetch(_ named: String?, aim: AttackAim, anywhere: Bool) async throws -> [UInt8]? {
        let url = named ?? aim.origin + "/.well-known/jwks.json"
        guard anywhere || URLText(url).map({ Loopback.contains(host: $0.host) }) ?? false else {
            throw CommandFailure(
                "\(URLText.redacted(url)): not this machine: add --i-own-this-target if it is yours", status: .misused)
        }
        do {
            return try await KeyFetch.fetch(url, limit: limit)
        } catch {
            guard named == nil else { throw error }
            Terminal.notice("no key set at \(url): attacks that need the public key are left out; name one with --jwks")
            return nil
        }
    }
}
