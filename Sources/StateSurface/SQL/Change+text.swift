/// A change as one line of text, in SQLite's table `changes` and in PostgreSQL's `change_log`. Ids come last, so they
/// may contain any characters.
extension Change {
    /// The kind in one letter, its fields, and last the id or the hash, separated by `|`. ``init(text:)`` reads it.
    var text: String {
        switch self {
        case .session(let id, let state, let epoch): "s|\(state.rawValue)|\(epoch)|\(id)"
        case .sessionExtended(let id, let origin, let tokenExpiresAt): "n|\(tokenExpiresAt)|\(origin)|\(id)"
        case .familyEnded(let id): "f|\(id)"
        case .familyRefreshed(let id, let tokenExpiresAt, nil): "g|\(tokenExpiresAt)|\(id)"
        case .familyRefreshed(let id, let tokenExpiresAt, let key?): "k|\(tokenExpiresAt)|\(key)|\(id)"
        case .revoked(let revocation) where revocation.accountVersion != nil:
            "v|\(revocation.kind.rawValue)|\(revocation.issuedUntil)|\(revocation.accountVersion ?? 0)|"
                + "\(revocation.expiresAt)|\(revocation.id)"
        case .revoked(let revocation):
            "r|\(revocation.kind.rawValue)|\(revocation.issuedUntil)|\(revocation.expiresAt)|\(revocation.id)"
        case .account(let userID): "a|\(userID)"
        case .tokenReach(let reach): "t|\(reach.lifetime)|\(reach.clockSkew)"
        case .events(let sessionID, let lastSeq): "e|\(lastSeq)|\(sessionID)"
        case .protocolSessionEnded(let hash): "p|" + Self.hex(hash)
        case .reset: "x|"
        }
    }

    /// Parses a change. An unknown one was written by a newer version, and is read as a reset.
    init(text: some StringProtocol) {
        self = Self.parse(String(text)) ?? .reset
    }

    private static func parse(_ text: String) -> Change? {
        func fields(_ count: Int) -> [Substring]? {
            let parts = text.split(separator: "|", maxSplits: count, omittingEmptySubsequences: false)
            return parts.count == count + 1 ? parts : nil
        }
        switch text.prefix(2) {
        case "s|":
            guard let part = fields(3), let state = StoredSessionState(rawValue: String(part[1])),
                let epoch = Int64(part[2])
            else { return nil }
            return .session(id: String(part[3]), state: state, epoch: epoch)
        case "n|":
            guard let part = fields(3), let tokenExpiresAt = Int64(part[1]) else { return nil }
            return .sessionExtended(id: String(part[3]), origin: String(part[2]), tokenExpiresAt: tokenExpiresAt)
        case "f|":
            return .familyEnded(id: String(text.dropFirst(2)))
        case "g|":
            guard let part = fields(2), let tokenExpiresAt = Int64(part[1]) else { return nil }
            return .familyRefreshed(id: String(part[2]), tokenExpiresAt: tokenExpiresAt)
        case "k|":
            guard let part = fields(3), let tokenExpiresAt = Int64(part[1]) else { return nil }
            return .familyRefreshed(id: String(part[3]), tokenExpiresAt: tokenExpiresAt, key: String(part[2]))
        case "r|":
            guard let part = fields(4), let kind = Revocation.Kind(rawValue: String(part[1])),
                let issuedUntil = Int64(part[2]), let expiresAt = Int64(part[3])
            else { return nil }
            return .revoked(
                Revocation(kind: kind, id: String(part[4]), issuedUntil: issuedUntil, expiresAt: expiresAt))
        case "v|":
            guard let part = fields(5), let kind = Revocation.Kind(rawValue: String(part[1])),
                let issuedUntil = Int64(part[2]), let version = Int64(part[3]), let expiresAt = Int64(part[4])
            else { return nil }
            return .revoked(
                Revocation(
                    kind: kind, id: String(part[5]), issuedUntil: issuedUntil, accountVersion: version,
                    expiresAt: expiresAt))
        case "t|":
            guard let part = fields(2), let lifetime = Int64(part[1]), let skew = Int64(part[2]) else { return nil }
            return .tokenReach(TokenReach(lifetime: lifetime, clockSkew: skew))
        case "a|":
            return .account(userID: String(text.dropFirst(2)))
        case "e|":
            guard let part = fields(2), let lastSeq = Int64(part[1]) else { return nil }
            return .events(sessionID: String(part[2]), lastSeq: lastSeq)
        case "p|":
            return unhex(text.utf8.dropFirst(2)).map { .protocolSessionEnded(hash: $0) }
        default:
            return nil
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hex(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func unhex(_ text: Substring.UTF8View) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = text
        while let high = rest.popFirst(), let low = rest.popFirst() {
            guard let upper = digits.firstIndex(of: high), let lower = digits.firstIndex(of: low) else { return nil }
            bytes.append(UInt8(upper << 4 | lower))
        }
        return bytes
    }
}
