import JOSE

/// The `keys/` folder: one PKCS#8 PEM per file, readable by its owner alone, encrypted or not, and an index of their
/// times.
///
/// PEM files that the index does not name are taken in: as the signing key when there is no other, else as a stand-by.
package struct KeyDirectory: Sendable {
    package let path: String
    /// The algorithm of new keys, and of RSA files that nothing else tells about.
    package let algorithm: SignatureAlgorithm
    /// See ``TokenPolicy/tokenReach``.
    package let tokenReach: Int64
    /// The same for the tokens of all nodes, where that is known.
    private var fleetReach: @Sendable () -> Int64 = { 0 }
    /// Opens encrypted files, and closes new ones. Files in the clear are read with it too.
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

    /// The same directory, whose keys are needed for as long as tokens of this reach are good.
    func reaching(_ fleetReach: @escaping @Sendable () -> Int64) -> KeyDirectory {
        var directory = self
        directory.fleetReach = fleetReach
        return directory
    }

    /// The keys in use and the plan that says what for.
    package struct Contents: Sendable {
        package let plan: KeySchedule.Plan
        /// Those of every entry that is not retired.
        let keys: [(entry: KeyEntry, key: SigningKey)]
        /// What is wrong with files that it goes on without.
        var faults: [GuardError] = []
    }

    /// Reads the directory. nil when it holds no key at all. A file that can't be used is a fault of the whole.
    package func load() throws(GuardError) -> Contents? {
        let schedule = try schedule()
        return schedule.entries.isEmpty ? nil : try contents(of: schedule)
    }

    /// Reads the directory anew for somebody who has these keys. A file that can't be used leaves its key as it was, or
    /// out: it must not keep another key from being retired.
    func load(keeping known: [SigningKey]) throws(GuardError) -> Contents? {
        let (schedule, faults) = try lenientSchedule()
        if schedule.entries.isEmpty { return nil }
        var contents = try contents(of: schedule, keeping: known)
        contents.faults += faults
        return contents
    }

    /// What is wrong with key files that the index does not name, and that are left out because of it.
    package func strayFaults() throws(GuardError) -> [GuardError] { try lenientSchedule().faults }

    /// Reads the directory; makes the first key when there is none. Any number of processes may do so at once.
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

    /// Differs whenever a key or the index was added, replaced or removed.
    package func stamp() -> String {
        let names = (try? PrivateFiles.names(in: path)) ?? []
        return names.filter(Self.isRelevant).map { "\($0) \(PrivateFiles.stamp("\(path)/\($0)"))" }
            .joined(separator: "\n")
    }

    // MARK: Reading

    /// The index's entries and those of the PEM files that it does not know.
    func schedule() throws(GuardError) -> KeySchedule {
        let (schedule, faults) = try lenientSchedule()
        if let fault = faults.first { throw fault }
        return schedule
    }

    /// The same without the files that can't be used, where the index names other keys: for whoever changes those.
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
                // Without an index this may be the one key there is, in whose place none must be made.
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
            // A file that was removed takes its key out of service; only the one that signs is missed.
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
        // A shared secret has no public half, so nobody could verify with what the JWKS says.
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
        // The configured algorithm where it fits the key, else what the key's own kind suggests.
        let fitting = try? SigningKey(parsing: bytes, algorithm: self.algorithm, keyID: keyID, passphrase: secret)
        if let fitting { return fitting }
        return try SigningKey(parsing: bytes, keyID: keyID, passphrase: secret)
    }

    /// A new key must open with what opens the keys in use: with two passphrases no gateway could start.
    func checkPassphrase(_ schedule: KeySchedule) throws(GuardError) {
        let present = try PrivateFiles.names(in: path) ?? []
        for planned in schedule.plan(at: clock()).keys where planned.state.verifies {
            let entry = planned.entry
            guard present.contains(where: { sameBytes($0, entry.file) }) else { continue }
            do throws(GuardError) {
                _ = try read(file: entry.file, algorithm: entry.algorithm, keyID: entry.keyID)
            } catch {
                // Whatever else is wrong with a file, a new key may be what mends it.
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
