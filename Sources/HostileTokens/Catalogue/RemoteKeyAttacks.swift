import Encodings
import JOSE

/// J06: the header gives a URL for the key, which must not be fetched.
enum RemoteKeyAttacks {
    /// A target that follows the URL lets the attacker choose the key, and makes requests within its own network
    /// (CWE-918). Both members of RFC 7515 sections 4.1.2 and 4.1.5 are tried with each place.
    static let all: [Attack] = ["jku", "x5u"].flatMap { member in places.map { attack(member, $0) } }

    /// Where the URL leads: to the suite's own canary, into the target's network, to a file, or past a check for the
    /// issuer.
    private struct Place: Sendable {
        let name: String
        let title: String
        let url: @Sendable (AttackMaterial) -> String?
    }

    private static let places = [
        // The suite listens there. If the target connects, the case fails, whatever it answered.
        Place(name: "canary", title: "an address of the attacker's") { $0.canaryURL },
        Place(name: "foreign", title: "a foreign https address") { _ in "https://attacker.invalid/jwks.json" },
        Place(name: "loopback", title: "a closed loopback port") { _ in "http://127.0.0.1:1/jwks.json" },
        Place(name: "metadata", title: "a cloud's metadata service") { _ in "http://169.254.169.254/latest/meta-data/"
        },
        Place(name: "file", title: "a file") { _ in "file:///etc/hostname" },
        Place(name: "userinfo", title: "the issuer as user information") { issuer($0) + "@attacker.invalid/jwks.json" },
        Place(name: "redirect", title: "an open redirect of the issuer's") {
            issuer($0) + "/redirect?to=https%3A%2F%2Fattacker.invalid%2Fjwks.json"
        },
    ]

    /// The issuer that the valid token names, or a made-up one, as the beginning of a URL.
    private static func issuer(_ material: AttackMaterial) -> String {
        material.claims["iss"]?.stringValue ?? "https://issuer.invalid"
    }

    /// A token of the attacker's key under an unknown `kid`, with the URL of a place where the key might be.
    /// The runner also fails it if the canary is visited.
    private static func attack(_ member: String, _ place: Place) -> Attack {
        Attack(
            id: "J06-\(member)-\(place.name)", title: "\(member) with \(place.title)",
            reference: "RFC 8725 §3.10, RFC 7515 §4.1.2, §4.1.5", category: .remoteKey
        ) { material in
            guard let url = place.url(material) else { return nil }
            // An unknown kid makes a verifier look for more keys.
            guard let key = try material.attackerKey(keyID: "attacker") else { return nil }
            return .token(try material.forged(with: key, extraHeader: [member: .string(url)]))
        }
    }
}
