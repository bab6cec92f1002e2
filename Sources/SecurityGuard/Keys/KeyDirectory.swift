import JOSE

/// The directory of signing keys: PKCS#8 PEM files, readable only by their owner and possibly encrypted, and an index
/// with their times.
///
/// PEM files that are not in the index are added: as the signing key if there is no other, otherwise as a waiting key.
package struct KeyDirectory: Sendable {
    /// Where it is.
    package let path: String
    /// The algorithm of new keys, and of RSA key files without other information.
    package let algorithm: SignatureAlgorithm
    /// See ``TokenPolicy/tokenReach``.
    package let tokenReach: Int64
    /// The same for the tokens of all nodes, if known.
    private var fleetReach: @Sendable () -> Int64 = { 0 }
    /// Decrypts key files and encrypts new ones. Unencrypted files can still be read.
    package let passphrase: KeyPassphrase?
    let clock: @Sendable () -> Int64

    package init(
        path: String, algorithm: SignatureAlgorithm, tokenReach: Int64, passphrase: KeyPassphrase? = nil,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.path = path
        self.algorithm = algorithm
        self.tokenReach = tokenReach
        self.passphrase = passphrase
        self.clock = clock
    }

    package init(
        path: String, policy: TokenPolicy, passphrase: KeyPassphrase? = nil, clock: @escaping @Sendable () -> Int64
    ) {
        self.init(
            path: path, algorithm: policy.algorithm, tokenReach: policy.tokenReach, passphrase: passphrase,
            clock: clock)
    }

    /// The same directory, whose keys are kept for the token reach of all nodes.
    func reaching(_ fleetReach: @escaping @Sendable () -> Int64) -> KeyDirectory {
        var directory = self
        directory.fleetReach = fleetReach
        return directory
    }

    /// The keys in use and the plan for them.
    package struct Contents: Sendable {
        /// Which key signs, and which verify.
        package let plan: KeySchedule.Plan
        /// The keys of all entries that are not retired.
        let keys: [(entry: KeyEntry, key: SigningKey)]
        /// The faults of files that are ignored.
        var faults: [GuardError] = []
    }

    /// Reads the directory; nil if it has no keys. Throws if a file can't be used.
    package func load() throws(GuardError) -> Contents? {
        let schedule = try schedule()
        return schedule.entries.isEmpty ? nil : try contents(of: schedule)
    }

    /// Reads the directory again for a gateway that has these keys. If a file can't be used, its key stays as it was,
    /// or is left out, so that the fault does not prevent other keys from being retired.
    func load(keeping known: [SigningKey]) throws(GuardError) -> Contents? {
        let (schedule, faults) = try lenientSchedule()
        if schedule.entries.isEmpty { return nil }
        var contents = try contents(of: schedule, keeping: known)
        contents.faults += faults
        return contents
    }

    /// Whether there is such a directory.
    package func exists() throws(GuardError) -> Bool { try PrivateFiles.names(in: path) != nil }

    /// The faults of key files that are not in the index and are ignored.
    package func strayFaults() throws(GuardError) -> [GuardError] { try lenientSchedule().faults }

    /// Reads the directory, and makes the first key if there is none. Several processes may do so at the same time.
    package func loadOrCreate() throws(GuardError) -> Contents {
        if let contents = try load() { return contents }
        try PrivateFiles.makeDirectory(path)
        return try PrivateFiles.locked(path) { () throws(GuardError) -> Contents in
            if let contents = try load() { return contents }
            var schedule = try schedule()
            let entry = try makeKey(algorithm, beside: schedule)
            schedule.add(entry, now: clock())
            try write(schedule)
            return try contents(of: schedule)
        }
    }

    /// A text that changes whenever a key or the index is added, replaced or removed.
    package func stamp() -> String {
        let names = (try? PrivateFiles.names(in: path)) ?? []
        return names.filter(Self.isRelevant).map { "\($0) \(PrivateFiles.stamp("\(path)/\($0)"))" }
            .joined(separator: "\n")
    }

    // MARK: Reading

    /// The entries of the index, and those of PEM files that are not in it.
    func schedule() throws(GuardError) -> KeySchedule {
        let (schedule, faults) = try lenientSchedule()
        if let fault = faults.first { throw fault }
        return schedule
    }

    /// The same without the files that can't be used, if the index names other keys.
    func lenientSchedule() throws(GuardError) -> (schedule: KeySchedule, faults: [GuardError]) {
        let names = try PrivateFiles.names(in: path) ?? []
        var entries: [KeyEntry] = []
        if names.contains(KeyIndex.fileName) {
            let file = "\(path)/\(KeyIndex.fileName)"
            let bytes = try PrivateFiles.read(file, limit: KeyIndex.maximumBytes, ownerOnly: false)
            entries = try KeyIndex.parse(bytes, path: file)
        }
        let isIndexed = !entries.isEmpty
        var faults: [GuardError] = []
        for name in names where Self.isKeyFile(name) && !entries.contains(where: { sameBytes($0.file, name) }) {
            let key: SigningKey
            do throws(GuardError) {
                key = try read(file: name, algorithm: Self.algorithm(namedIn: name), keyID: nil)
            } catch {
                // Without an index this may be the only key, which must not be replaced by a new one.
                guard isIndexed else { throw error }
                faults.append(error)
                continue
            }
            let isFirst = !entries.contains { $0.firstUseAt != nil }
            entries.append(
                KeyEntry(
                    keyID: key.keyID, file: name, algorithm: key.algorithm, publishedAt: clock(),
                    firstUseAt: isFirst ? 0 : nil))
        }
        return (KeySchedule(entries: entries, tokenReach: max(tokenReach, fleetReach())), faults)
    }

    private func contents(
        of schedule: KeySchedule, keeping known: [SigningKey] = []
    ) throws(GuardError) -> Contents {
        let plan = schedule.plan(at: clock())
        guard let active = plan.active else {
            throw GuardError(.keyState, "\(path) has no active key; make one: gatehouse keys generate --keys \(path)")
        }
        let present = try PrivateFiles.names(in: path) ?? []
        var keys: [(entry: KeyEntry, key: SigningKey)] = []
        var faults: [GuardError] = []
        for planned in plan.keys where planned.state.verifies {
            let entry = planned.entry
            // A removed file retires its key, except that the signing key must exist.
            if !present.contains(where: { sameBytes($0, entry.file) }), entry != active { continue }
            let key: SigningKey
            do throws(GuardError) {
                key = try read(file: entry.file, algorithm: entry.algorithm, keyID: entry.keyID)
            } catch {
                let kept = known.first { sameBytes($0.keyID, entry.keyID) }
                guard !known.isEmpty, kept != nil || entry != active else { throw error }
                faults.append(error)
                guard let kept else { continue }
                key = kept
            }
            if let twin = keys.first(where: { sameBytes($0.entry.keyID, entry.keyID) }) {
                throw GuardError(
                    .keyFile, "\(path)/\(twin.entry.file) and \(path)/\(entry.file) have the same kid; remove one")
            }
            keys.append((entry, key))
        }
        return Contents(plan: plan, keys: keys, faults: faults)
    }

    private func read(file: String, algorithm: SignatureAlgorithm?, keyID: String?) throws(GuardError) -> SigningKey {
        let name = "\(path)/\(file)"
        let bytes = try PrivateFiles.read(name, limit: 65_536, ownerOnly: true)
        let key: SigningKey
        do throws(JOSEError) {
            key = try signingKey(bytes, algorithm: algorithm, keyID: keyID)
        } catch {
            if error.code == .passphrase {
                let text = KeyPassphrase.refusal(of: name, given: passphrase, setting: "keys.passphrase_file")
                throw GuardError(.keyPassphrase, text)
            }
            throw GuardError(.keyFile, "\(name) is not a private key that can be used here: \(error)", cause: error)
        }
        // A shared secret has no public key to publish.
        if key.algorithm.isSymmetric { throw GuardError(.keyFile, "\(name) is a shared secret, not a private key") }
        return key
    }

    private func signingKey(
        _ bytes: [UInt8], algorithm: SignatureAlgorithm?, keyID: String?
    ) throws(JOSEError) -> SigningKey {
        let secret = passphrase?.bytes
        if let algorithm {
            return try SigningKey(parsing: bytes, algorithm: algorithm, keyID: keyID, passphrase: secret)
        }
        // The configured algorithm if it fits the key, otherwise the default for its kind.
        let fitting = try? SigningKey(parsing: bytes, algorithm: self.algorithm, keyID: keyID, passphrase: secret)
        if let fitting { return fitting }
        return try SigningKey(parsing: bytes, keyID: keyID, passphrase: secret)
    }

    /// Checks that the passphrase decrypts the keys in use, because no gateway could start with keys under two
    /// passphrases.
    func checkPassphrase(_ schedule: KeySchedule) throws(GuardError) {
        let present = try PrivateFiles.names(in: path) ?? []
        for planned in schedule.plan(at: clock()).keys where planned.state.verifies {
            let entry = planned.entry
            guard present.contains(where: { sameBytes($0, entry.file) }) else { continue }
            do throws(GuardError) {
                _ = try read(file: entry.file, algorithm: entry.algorithm, keyID: entry.keyID)
            } catch {
                // Other faults of a file are ignored, because a new key may be the remedy.
                if error.code == .keyPassphrase { throw error }
            }
        }
    }

    private static func algorithm(namedIn file: String) -> SignatureAlgorithm? {
        SignatureAlgorithm.allCases.first { file.utf8.starts(with: "\($0.rawValue)-".utf8) }
    }

    private static func isKeyFile(_ name: String) -> Bool {
        KeyIndex.isFileName(name) && name.utf8.count > 4 && name.utf8.suffix(4).elementsEqual(".pem".utf8)
    }

    private static func isRelevant(_ name: String) -> Bool { isKeyFile(name) || name == KeyIndex.fileName }
}
