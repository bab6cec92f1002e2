import StateSurface

extension Runtime {
    // MARK: Asking the store

    /// A permit for a session, if it is live, authenticated and this user's, read from the store. Every refusal is the
    /// same `.mismatch`.
    /// - Parameter epoch: the epoch that the session must have, for a credential issued in that epoch.
    package func admit(
        sessionID: String, tenantID: String, userID: String, epoch: Int64? = nil
    ) async throws -> Result<Permit, SessionFault> {
        let owner = SessionOwner(tenantID: tenantID, userID: userID)
        guard let entry = try await load(sessionID), epoch == nil || entry.epoch == epoch,
            let permit = Admit.owner(owner, to: entry, now: clock())
        else { return .failure(.mismatch) }
        noteUse(sessionID)
        return .success(permit)
    }

    /// A permit for the live session with this current secret, read from the store.
    package func admit(secretHash: [UInt8]) async throws -> Result<Permit, SessionFault> {
        let mark = view.mark()
        guard let record = try await keeper.current(secretHash: secretHash) else { return .failure(.mismatch) }
        view.remember(record, readAfter: mark)
        let entry = SessionView.Entry(record)
        guard let permit = Admit.bearer(ofSecret: secretHash, to: entry, now: clock()) else {
            return .failure(.mismatch)
        }
        noteUse(record.id)
        return .success(permit)
    }

    /// Checks a permit again, in the store.
    package func renew(_ permit: Permit) async throws -> Renewal {
        Admit.recheck(permit, to: try await load(permit.sessionID), now: clock())
    }

    /// The epoch of a live session, read from the store; nil if it is not live.
    package func liveEpoch(sessionID: String) async throws -> Int64? {
        guard let entry = try await load(sessionID), entry.isLive(at: clock()) else { return nil }
        return entry.epoch
    }

    /// The epoch of a live session, from memory; nil if it is not in memory, in which case the store must be asked.
    package func knownEpoch(sessionID: String) -> Int64? {
        guard let entry = view.entry(id: sessionID), entry.isLive(at: clock()) else { return nil }
        return entry.epoch
    }

    /// Checks a permit again, in memory if it still holds there, otherwise in the store.
    func confirm(_ permit: Permit) async throws -> Renewal {
        let remembered = Admit.recheck(permit, to: view.entry(id: permit.sessionID), now: clock())
        if case .holds = remembered { return remembered }
        return try await renew(permit)
    }

    /// The live session for a login with this secret.
    package func loginTarget(secretHash: [UInt8]) async throws -> LoginTarget? {
        if let record = try await keeper.current(secretHash: secretHash) {
            return LoginTarget(session: SessionSnapshot(record), isCurrentSecret: true)
        }
        let now = clock()
        guard let record = try await store.session(secretHash: secretHash).map(uses.apply),
            keeper.lifecycle.repeats(record, secretHash: secretHash, now: now)
        else { return nil }
        return LoginTarget(session: SessionSnapshot(record), isCurrentSecret: false)
    }

    /// Loads a session into memory. If it has expired, it is marked so first.
    private func load(_ id: String) async throws -> SessionView.Entry? {
        let mark = view.mark()
        guard let record = try await store.session(id: id).map(uses.apply) else { return nil }
        if record.state.isLive, SessionLifecycle.isPast(record, clock()) {
            // Regardless of the caller, so that a session that was found expired is never found live again.
            do {
                return SessionView.Entry(try await keeper.apply(.expiryCheck, to: id).after)
            } catch is SessionFault {
                return nil
            }
        }
        view.remember(record, readAfter: mark)
        return SessionView.Entry(record)
    }

    // MARK: Use

    /// Records a use of a session. Uses are written to the store in batches, before other nodes would find the session
    /// idle.
    ///
    /// - Returns: false if too many wait to be written, so that this one is known here only. A later one, half an
    ///   interval from now, is recorded again.
    @discardableResult
    package func noteUse(_ sessionID: String) -> Bool {
        let now = clock()
        guard view.touch(id: sessionID, at: now, resolution: policy.flushInterval / 2) else { return true }
        return uses.note(sessionID, at: now)
    }

    // MARK: Tickets

    /// Issues a single-use ticket for a permit, which is valid for ``ticketLifetimeSeconds``.
    /// - Parameter tokenFacts: data that is returned when the ticket is redeemed.
    /// - Returns: nil if the session has too many unused tickets.
    package func mintTicket(for permit: Permit, tokenFacts: [UInt8], origin: String?) async throws -> String? {
        try await tickets.mint(for: permit, tokenFacts: tokenFacts, origin: origin, now: clock())
    }

    /// Uses a ticket. Nil if it is unknown, used, expired or from another Origin.
    package func redeemTicket(_ text: some Collection<UInt8>, origin: String?) async throws -> TicketGrant? {
        try await tickets.redeem(text, origin: origin, now: clock())
    }

    /// The lifetime of a ticket in seconds.
    package static let ticketLifetimeSeconds = Int(TicketBook.lifetime / 1_000)
}
