import EdgeConfiguration
import EdgeCore
import StateSurface

extension DoctorJudgement {
    /// Whether the store can be used by this program.
    var store: [DoctorFinding] {
        switch facts.store {
        case .missing(let path):
            return [.note("store", "state.url", "there is no store at \(path)", "the first start makes it")]
        case .failed(let why):
            return [.wrong("store", "state.url", why, "start the store, or correct the URL")]
        case .seen(let seen): return version(seen) + writes(seen) + clock(seen)
        }
    }

    /// Whether this program knows the tables: newer ones are wrong, older ones are migrated by the next start.
    private func version(_ seen: StoreInspection) -> [DoctorFinding] {
        let known = StoreInspection.knownVersion
        guard let version = seen.version else {
            return [.note("store", "state.url", "the store has no tables", "the first start makes them")]
        }
        if version > known {
            return [
                .wrong(
                    "store", "state.url", "its tables have version \(version), this program knows \(known)",
                    "install the newer version that has written it")
            ]
        }
        if version < known {
            return [
                .note(
                    "store", "state.url", "its tables have version \(version), and this program makes \(known) of them",
                    "make a backup; the next start migrates them, after which older versions refuse to start")
            ]
        }
        return [.good("store", "the store answers, its tables have version \(version)")]
    }

    /// Whether this user may write to the store.
    private func writes(_ seen: StoreInspection) -> [DoctorFinding] {
        guard !seen.isWritable else { return [] }
        let advice =
            seen.file.map { "run as the gateway's user, or chown \($0)" }
            ?? "grant the user of the URL INSERT and UPDATE on schema gatehouse, or CREATE on the database"
        return [.wrong("store", "state.url", "this user may not write to the store", advice)]
    }

    /// Whether this machine's clock agrees with the store's within `tokens.clock_skew`, at least a second. An embedded
    /// store has no clock: there the newest session must not be from the future.
    private func clock(_ seen: StoreInspection) -> [DoctorFinding] {
        let skew = max(configuration.tokens.clockSkew, 1_000)
        if let offset = seen.clockOffset {
            let apart = offset.magnitude
            guard apart > skew else { return [.good("clock", "\(apart) ms apart from the store's")] }
            return [
                .wrong(
                    "clock", "tokens.clock_skew", "this clock is \(apart / 1_000) s apart from the store's",
                    "run NTP on both; nodes that disagree refuse each other's tokens")
            ]
        }
        if let newest = seen.newestSession, newest > facts.now + skew {
            return [
                .wrong(
                    "clock", "", "the newest session is from the future, by \((newest - facts.now) / 1_000) s",
                    "the clock has been set back: run NTP")
            ]
        }
        return []
    }

    /// Whether PostgreSQL is set to keep committed writes, and has room for the connections of one more node.
    var postgres: [DoctorFinding] {
        guard case .seen(let seen) = facts.store, seen.clockOffset != nil else { return [] }
        var found: [DoctorFinding] = []
        for name in ["fsync", "full_page_writes"] where seen.settings[name] == "off" {
            found.append(
                .wrong(
                    "postgres", "state.url",
                    "\(name) is off: a crash of the machine loses or damages what was answered",
                    "set \(name) = on in postgresql.conf"))
        }
        if seen.settings["synchronous_commit"] == "off" {
            found.append(
                .note(
                    "postgres", "state.url", "synchronous_commit is off, which the gateway overrides with on",
                    "set it to on, or to remote_apply with a synchronous standby"))
        }
        if let most = seen.settings["max_connections"].flatMap({ Int64($0) }), let used = seen.connections {
            let reserved = seen.settings["superuser_reserved_connections"].flatMap { Int64($0) } ?? 3
            let free = most - reserved - used
            if free < Self.connectionsOfNode {
                found.append(
                    .note(
                        "postgres", "state.url",
                        "\(used) of \(most) connections are in use, and a node needs "
                            + "\(Self.connectionsOfNode)", "raise max_connections before nodes are added"))
            }
        }
        return found.isEmpty ? [.good("postgres", "it keeps what it has answered")] : found
    }

    /// The connections of one node: eight write, four read, one reads the change log.
    private static let connectionsOfNode: Int64 = 13
}
