import Encodings
import JOSE

/// The operations of `gatehouse keys`. A running gateway applies the new index within a second.
extension KeyDirectory {
    /// One line of `keys list`.
    package struct Listing: Sendable {
        /// The key.
        package let entry: KeyEntry
        /// Its state now.
        package let state: KeyState
        /// When the state will change by itself; nil if it will not.
        package let until: Int64?
        /// Whether its file is not in the directory.
        package let isMissing: Bool
    }

    /// All keys of the index, retired ones included. Key files are not read, so one that can't be is listed, too.
    package func list() throws(GuardError) -> [Listing] {
        let schedule = try lenientSchedule().schedule
        let names = try PrivateFiles.names(in: path) ?? []
        return schedule.plan(at: clock()).keys.map { key in
            Listing(
                entry: key.entry, state: key.state, until: key.until,
                isMissing: !names.contains { sameBytes($0, key.entry.file) })
        }
    }

    /// Makes a key. The first one signs at once; a later one waits for a rotation.
    package func generate(algorithm: SignatureAlgorithm? = nil) throws(GuardError) -> Listing {
        try change { schedule, now throws(GuardError) in
            let entry = try makeKey(algorithm ?? self.algorithm, beside: schedule)
            schedule.add(entry, now: now)
            return entry.keyID
        }
    }

    /// Publishes the next signing key (a waiting one if there is one), which signs after the cache lifetime of the
    /// JWKS.
    ///
    /// With `immediately` it signs at once; verifiers with a cached JWKS then refuse its tokens for up to 5 minutes.
    package func rotate(
        algorithm: SignatureAlgorithm? = nil, immediately: Bool = false
    ) throws(GuardError) -> Listing {
        try change { schedule, now throws(GuardError) in
            if let pending = schedule.pending(at: now), !immediately {
                throw GuardError(
                    .keyState, "key \(pending.keyID) is already published and will sign next; nothing to rotate yet")
            }
            let standBy = schedule.pending(at: now) ?? schedule.standBy(algorithm: algorithm, at: now)
            let keyID: String
            if let standBy {
                keyID = standBy.keyID
            } else {
                let entry = try makeKey(algorithm ?? self.algorithm, beside: schedule)
                schedule.add(entry, now: now)
                keyID = entry.keyID
            }
            if schedule.plan(at: now).state(of: keyID) != .active {
                schedule.promote(keyID: keyID, now: now, immediately: immediately)
            }
            return keyID
        }
    }

    /// Retires a key now, which makes its tokens invalid at once. If it was the signing key, another one replaces it in
    /// the same step.
    package func retire(keyID: String) throws(GuardError) -> Listing {
        try change { schedule, now throws(GuardError) in
            guard let state = schedule.plan(at: now).state(of: keyID) else {
                throw GuardError(.keyUnknown, "no key in \(path) has this kid; see: gatehouse keys list")
            }
            let before = schedule
            schedule.retire(keyID: keyID, now: now)
            if state == .active {
                if let next = schedule.pending(at: now) ?? schedule.standBy(algorithm: nil, at: now) {
                    schedule.promote(keyID: next.keyID, now: now, immediately: true)
                } else {
                    schedule.add(try makeKey(algorithm, beside: before), now: now)
                }
            }
            return keyID
        }
    }

    /// The JWKS as it is served now.
    package func jwks() throws(GuardError) -> String {
        guard let contents = try load() else {
            throw GuardError(.keyState, "\(path) holds no key; make one: gatehouse keys generate --keys \(path)")
        }
        return JWKSet.publicJSON(of: contents.keys.map(\.key.verificationKey))
    }

    // MARK: Writing

    private func change(
        _ body: (inout KeySchedule, Int64) throws(GuardError) -> String
    ) throws(GuardError) -> Listing {
        try PrivateFiles.makeDirectory(path)
        return try PrivateFiles.locked(path) { () throws(GuardError) -> Listing in
            let now = clock()
            // A file that can't be used must not prevent a key from being retired.
            var schedule = try lenientSchedule().schedule
            let keyID = try body(&schedule, now)
            try write(schedule)
            guard let key = schedule.plan(at: now).keys.first(where: { sameBytes($0.entry.keyID, keyID) }) else {
                throw GuardError(.keyUnknown, "the key vanished from \(path) while it was written")
            }
            return Listing(entry: key.entry, state: key.state, until: key.until, isMissing: false)
        }
    }

    func write(_ schedule: KeySchedule) throws(GuardError) {
        try PrivateFiles.replace("\(path)/\(KeyIndex.fileName)", KeyIndex.serialize(schedule.entries))
    }

    /// Generates a key and writes its file, encrypted if there is a passphrase. It is not used before the index names
    /// it.
    func makeKey(_ algorithm: SignatureAlgorithm, beside schedule: KeySchedule) throws(GuardError) -> KeyEntry {
        if algorithm.isSymmetric {
            throw GuardError(.keyFile, "\(algorithm.rawValue) needs a shared secret; tokens are signed with key pairs")
        }
        try checkPassphrase(schedule)
        let key: SigningKey
        let pem: String
        do {
            key = try SigningKey.generate(algorithm)
            pem = try key.pkcs8PEM(passphrase: passphrase?.bytes)
        } catch {
            throw GuardError(.keyFile, "can't make a key for \(algorithm.rawValue): \(error)", cause: error)
        }
        let keyID = key.keyID
        let file = "\(algorithm.rawValue)-\(keyID).pem"
        guard try PrivateFiles.create("\(path)/\(file)", Array(pem.utf8)) else {
            throw GuardError(.keyFile, "\(path)/\(file) exists already")
        }
        return KeyEntry(keyID: keyID, file: file, algorithm: algorithm, publishedAt: clock())
    }
}
