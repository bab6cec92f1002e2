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
            abstract: "Lists live sessions. An id names a session and is not a credential.")

        @Option(parsing: .unconditional, help: "Only sessions of this user id.")
        var user: String?
        @Flag(help: "Ended and expired sessions too.")
        var all = false
        @OptionGroup var listing: ListingOptions
        @OptionGroup var options: StateOptions

        /// Refuses a `--user` that is no id, such as an e-mail: nothing would be listed, as for a user without sessions.
        func validate() throws { try StateOptions.requireSubject(user, as: "--user") }

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
            abstract: "Ends sessions, their sockets, and the families of refresh tokens whose home they are.")

        @Argument(help: "Session ids (ses_…).")
        var ids: [String]
        @OptionGroup var options: StateOptions

        /// Refuses an empty id, before any session is ended.
        func validate() throws { for id in ids { try StateOptions.requireGiven(id, as: "a session id") } }

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
