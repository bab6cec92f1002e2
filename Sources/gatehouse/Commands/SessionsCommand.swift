import ArgumentParser
import Encodings
import Runtime
import StateSurface

/// `gatehouse sessions`: lists and ends sessions.
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "Lists and ends sessions.", subcommands: [List.self, End.self])

    /// `sessions list`.
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
                let now = SystemClock.milliseconds()
                let sessions = try await store.surface.sessions(limit: listing.limit)
                var rows = Listing(
                    columns: [
                        "session_id", "state", "user_id", "tenant_id", "created_at", "last_seen_at", "expires_at",
                    ])
                for session in sessions where isWanted(session, now: now) {
                    rows.rows.append(row(session))
                }
                listing.show(rows, fetched: sessions.count)
            }
        }

        private func isWanted(_ session: SessionRecord, now: Int64) -> Bool {
            let isOfUser = user.map { name in session.userID.map { name.utf8.elementsEqual($0.utf8) } ?? false } ?? true
            return isOfUser && (all || (session.state.isLive && session.expiresAt > now))
        }

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

    /// `sessions end`.
    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends sessions, their sockets, and the refresh families that are at home in them.")

        @Argument(help: "Session ids (ses_…).")
        var ids: [String]
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                var unknown: [String] = []
                for (index, id) in ids.enumerated() {
                    guard let ended = try await SessionEnding(store: store).end(id) else {
                        unknown.append("\(index + 1)")
                        continue
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

/// Ends a session from outside the gateway, by the same rules as inside.
struct SessionEnding {
    /// The number of attempts when other writers change the session at the same time.
    private static let attempts = 16

    let store: Store

    /// Ends a session. True if it was alive, nil if there is no such session.
    func end(_ id: String) async throws -> Bool? {
        for _ in 0..<Self.attempts {
            guard var session = try await store.surface.session(id: id) else { return nil }
            let wasLive = session.state.isLive
            if wasLive {
                session.state = .ended
                session.endedAt = SystemClock.milliseconds()
                session.previousSecretHash = nil
                session.previousSecretUntil = nil
                guard try await store.surface.replace(session: session) else { continue }
            }
            try await endFamily(atHomeIn: session)
            return wasLive
        }
        throw CommandFailure("the session is being changed all the time: try again")
    }

    /// Ends the refresh family that is bound to the session. A family that the session only uses stays alive.
    private func endFamily(atHomeIn session: SessionRecord) async throws {
        guard let familyID = session.familyID, let family = try await store.surface.family(id: familyID),
            let home = family.binding, home.utf8.elementsEqual(session.id.utf8)
        else { return }
        _ = try await store.surface.endFamily(
            id: familyID, at: SystemClock.milliseconds(), revokedUntil: store.revokedUntil)
    }
}
