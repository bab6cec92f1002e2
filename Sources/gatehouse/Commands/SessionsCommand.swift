import ArgumentParser
import Encodings
import Runtime
import StateSurface

/// `gatehouse sessions`: lists and ends sessions in the store. Running gateways learn of an end by the change feed.
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "Lists and ends sessions.", subcommands: [List.self, End.self])

    /// `sessions list`: prints sessions, newest first.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists live sessions. An id is an address, not a credential: it opens nothing.")

        @Option(parsing: .unconditional, help: "Only sessions of this user id.")
        var user: String?
        @Flag(help: "Ended and expired sessions too.")
        var all = false
        @OptionGroup var listing: ListingOptions
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let sessions = try await store.surface.sessions(
                    userID: user, liveAt: all ? nil : SystemClock.milliseconds(), limit: listing.limit)
                var rows = Listing(
                    columns: [
                        "session_id", "state", "user_id", "tenant_id", "created_at", "last_seen_at", "expires_at",
                    ])
                rows.rows = sessions.map(row)
                listing.show(rows, fetched: sessions.count)
            }
        }

        /// One session as a row of the listing. Times are RFC 3339 in UTC.
        private func row(_ session: SessionRecord) -> JSONObject {
            [
                "session_id": .string(session.id), "state": .string(session.state.rawValue),
                "user_id": session.userID.map { .string($0) } ?? .null,
                "tenant_id": session.tenantID.map { .string($0) } ?? .null,
                "created_at": .string(Timestamp.text(session.createdAt)),
                "last_seen_at": .string(Timestamp.text(session.lastSeenAt)),
                "expires_at": .string(Timestamp.text(session.expiresAt)),
            ]
        }
    }

    /// `sessions end`: ends every session that is named, and reports for each whether it was live. Exits with status 1
    /// if any id is unknown; the others have been ended all the same.
    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends sessions, their sockets, and the refresh families that are at home in them.")

        @Argument(help: "Session ids (ses_…).")
        var ids: [String]
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let audit = try store.openAudit()
                var unknown: [String] = []
                for (index, id) in ids.enumerated() {
                    guard let ended = try await SessionEnding(store: store).end(id) else {
                        unknown.append("\(index + 1)")
                        continue
                    }
                    if ended {
                        let reference = String(id.prefix(SessionAudit.referenceLength))
                        try audit.record("session.ended", ["session": .string(reference)])
                    }
                    Terminal.notice("\(index + 1) of \(ids.count): \(ended ? "ended" : "had ended before")")
                }
                guard unknown.isEmpty else {
                    let numbers = unknown.joined(separator: ", ")
                    throw CommandFailure("no session has id number \(numbers): see 'gatehouse sessions list'")
                }
            }
        }
    }
}

/// Ends a session from outside the gateway, by the same rules as the gateway.
struct SessionEnding {
    /// How often ending is tried while other writers change the session.
    private static let attempts = 16

    let store: CommandStore

    /// The session was written between reading and ending it.
    private struct Changed: TransactionAbort {}

    /// Ends a session, and its family if the session is the family's home. The end of a guest does not end the family.
    /// - Returns: whether it was live; nil if there is no such session.
    /// - Throws: ``CommandFailure`` if other writers changed the session in every attempt; the store's errors.
    func end(_ id: String) async throws -> Bool? {
        let (now, revokedUntil) = (SystemClock.milliseconds(), store.revokedUntil)
        for _ in 0..<Self.attempts {
            do {
                return try await store.surface.transaction { transaction in
                    try Self.end(id, at: now, revokedUntil: revokedUntil, transaction)
                }
            } catch is Changed {
                // The transaction was rolled back.
            }
        }
        throw CommandFailure("the session is being changed all the time: try again")
    }

    /// Ends a session inside a transaction.
    /// - Returns: whether it was live; nil if there is no such session.
    /// - Throws: ``Changed`` if another writer was faster.
    private static func end(
        _ id: String, at now: Milliseconds, revokedUntil: Milliseconds, _ transaction: any StoreTransaction
    ) throws -> Bool? {
        guard var session = try transaction.session(id: id) else { return nil }
        transaction.because(StoreEvent.EndReason.endedByOperator)
        let family = try session.familyID.flatMap { try transaction.family(id: $0) }
        let wasLive = session.state.isLive
        if wasLive {
            session.state = .ended
            session.endedAt = now
            session.previousSecretHash = nil
            session.previousSecretUntil = nil
            guard try transaction.replace(session: session) else { throw Changed() }
        }
        if let family, family.binding?.hasSameBytes(as: session.id) == true {
            _ = try transaction.endFamily(id: family.id, at: now, revokedUntil: revokedUntil)
        }
        return wasLive
    }
}
