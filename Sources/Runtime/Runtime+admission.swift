import StateSurface

/// A session that a login may go on with: what its secret says about it.
package struct LoginTarget: Sendable, Equatable {
    package let session: SessionSnapshot
    /// False when the secret is the one before, within its seconds of grace.
    package let isCurrentSecret: Bool
}

extension Runtime {
    // MARK: Asking the store

    /// Whether a session is this user's, live and authenticated, as the store says. A no is one and the same
    /// `.mismatch`, whatever the reason.
    /// - Parameter epoch: the epoch it has to be in, for what was issued under one.
    package func admit(
        sessionID: String, tenantID: String, userID: String, epoch: Int64? = nil
    ) async throws -> Result<Permit, SessionFault> {
        let owner = SessionOwner(tenantID: tenantID, userID: userID)
        guard let entry = try await self.load(sessionID), epoch == nil || entry.epoch == epoch,
            let permit = Admit.owner(owner, to: entry, now: self.clock())
        else { return .failure(.mismatch) }
        self.noteUse(sessionID)
        return .success(permit)
    }

    /// Whether this is the current secret of a live session, as the store says.
    package func admit(secretHash: [UInt8]) async throws -> Result<Permit, SessionFault> {
        let mark = self.view.mark()
        guard let record = try await self.keeper.current(secretHash: secretHash) else { return .failure(.mismatch) }
        self.view.remember(record, readAfter: mark)
        let entry = SessionView.Entry(record)
        guard let permit = Admit.bearer(ofSecret: secretHash, to: entry, now: self.clock()) else {
            return .failure(.mismatch)
        }
        self.noteUse(record.id)
        return .success(permit)
    }

    /// What has become of a permit, as the store says.
    package func renew(_ permit: Permit) async throws -> Renewal {
        Admit.again(permit, to: try await self.load(permit.sessionID), now: self.clock())
    }

    /// The epoch that a session is in, as the store says; nil when it is not live.
    package func liveEpoch(sessionID: String) async throws -> Int64? {
        guard let entry = try await self.load(sessionID), entry.isLive(at: self.clock()) else { return nil }
        return entry.epoch
    }

    /// The epoch that a live session is in, from memory; nil when memory knows of none: ask the store then.
    package func knownEpoch(sessionID: String) -> Int64? {
        guard let entry = self.view.entry(id: sessionID), entry.isLive(at: self.clock()) else { return nil }
        return entry.epoch
    }

    /// What has become of a permit, from memory where memory says yes.
    func confirm(_ permit: Permit) async throws -> Renewal {
        let remembered = Admit.again(permit, to: self.view.entry(id: permit.sessionID), now: self.clock())
        if case .holds = remembered { return remembered }
        return try await self.renew(permit)
    }

    /// The live session that a login with this secret is about.
    package func loginTarget(secretHash: [UInt8]) async throws -> LoginTarget? {
        if let record = try await self.keeper.current(secretHash: secretHash) {
            return LoginTarget(session: SessionSnapshot(record), isCurrentSecret: true)
        }
        let now = self.clock()
        guard let record = try await self.store.session(secretHash: secretHash).map(self.uses.apply),
            self.keeper.lifecycle.repeats(record, secretHash: secretHash, now: now)
        else { return nil }
        return LoginTarget(session: SessionSnapshot(record), isCurrentSecret: false)
    }

    /// Loads a session into memory. One that lies there past its end is marked expired first.
    private func load(_ id: String) async throws -> SessionView.Entry? {
        let mark = self.view.mark()
        guard let record = try await self.store.session(id: id).map(self.uses.apply) else { return nil }
        if record.state.isLive, SessionLifecycle.isPast(record, self.clock()) {
            // Whoever it is that asks: what was found expired once must never be found alive.
            do {
                return SessionView.Entry(try await self.keeper.apply(.lapse, to: id).after)
            } catch is SessionFault {
                return nil
            }
        }
        self.view.remember(record, readAfter: mark)
        return SessionView.Entry(record)
    }

    // MARK: Use

    /// A session was used. Written down with many others, soon enough for everybody else.
    package func noteUse(_ sessionID: String) {
        let now = self.clock()
        guard self.view.touch(id: sessionID, at: now, resolution: self.policy.flushInterval / 2) else { return }
        self.uses.note(sessionID, at: now)
    }

    // MARK: Tickets

    /// A single-use ticket for the holder of a permit, good for ``ticketLifetimeSeconds``.
    /// - Parameter tokenFacts: what the edge wants back when it is redeemed.
    /// - Returns: nil when too many are out.
    package func mintTicket(for permit: Permit, tokenFacts: [UInt8], origin: String?) async throws -> String? {
        try await self.tickets.mint(for: permit, tokenFacts: tokenFacts, origin: origin, now: self.clock())
    }

    /// What a ticket stands for; nil when it is unknown, used, out of its time or from another Origin.
    package func redeemTicket(_ text: some Collection<UInt8>, origin: String?) async throws -> TicketGrant? {
        try await self.tickets.redeem(text, origin: origin, now: self.clock())
    }

    /// How long a ticket can be used.
    package static let ticketLifetimeSeconds = Int(TicketBook.lifetime / 1_000)
}
