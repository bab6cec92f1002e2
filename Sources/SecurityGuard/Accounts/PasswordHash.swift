import Encodings
import Libcrypto

/// A password's scrypt hash as a PHC string: `$scrypt$ln=15,r=8,p=1$salt$hash`, base64 without padding.
struct PasswordHash: Sendable {
    static let saltBytes = 16
    static let hashBytes = 32

    let parameters: ScryptParameters
    let salt: [UInt8]
    let hash: [UInt8]

    /// Hashes a password with a new salt. It blocks for tens of milliseconds.
    static func make(_ password: [UInt8], _ parameters: ScryptParameters) throws -> PasswordHash {
        let salt = SecureRandom.bytes(saltBytes)
        let hash = try derive(password, salt: salt, parameters, length: hashBytes)
        return PasswordHash(parameters: parameters, salt: salt, hash: hash)
    }

    /// A hash that no password matches, of the same cost as a real one.
    static func unmatchable(_ parameters: ScryptParameters) -> PasswordHash {
        PasswordHash(
            parameters: parameters, salt: SecureRandom.bytes(saltBytes), hash: SecureRandom.bytes(hashBytes))
    }

    /// Whether the password matches. It blocks as long as hashing does.
    func matches(_ password: [UInt8]) throws -> Bool {
        let candidate = try Self.derive(password, salt: salt, parameters, length: hash.count)
        return ConstantTime.equal(candidate, hash)
    }

    private static func derive(
        _ password: [UInt8], salt: [UInt8], _ parameters: ScryptParameters, length: Int
    ) throws -> [UInt8] {
        try Scrypt.derive(
            password: password, salt: salt, n: parameters.n, r: UInt64(parameters.r), p: UInt64(parameters.p),
            length: length)
    }
}

// MARK: The PHC string
extension PasswordHash {
    var text: String {
        let cost = "ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)"
        return "$scrypt$\(cost)$\(Base64.unpadded(salt))$\(Base64.unpadded(hash))"
    }

    /// Parses a PHC string; nil unless it has the form that ``text`` writes, with reasonable parameters.
    init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
            let parameters = ScryptParameters(phc: parts[2]), parameters.isReasonable,
            let salt = Self.bytes(parts[3]), (8...64).contains(salt.count),
            let hash = Self.bytes(parts[4]), (16...64).contains(hash.count)
        else { return nil }
        self.init(parameters: parameters, salt: salt, hash: hash)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        text.utf8.count <= 128 ? Base64.decode(unpadded: text) : nil
    }
}

extension ScryptParameters {
    fileprivate init?(phc text: Substring) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let logN = Self.value("ln=", parts[0]), let r = Self.value("r=", parts[1]),
            let p = Self.value("p=", parts[2])
        else { return nil }
        self.init(logN: logN, r: r, p: p)
    }

    private static func value(_ name: String, _ text: Substring) -> Int? {
        guard text.utf8.starts(with: name.utf8) else { return nil }
        let digits = text.dropFirst(name.count)
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }
}
