import NIOCore

/// How the pool finds a connection for a request.
extension UpstreamPool {
    /// Which member to ask next: the one with the fewest requests under way, in turn among equals; members that failed
    /// rest for a while, unless all do. `excluding` holds those that were tried for this request.
    /// - Parameter only: the one member that may be asked; nil for any.
    package func choose(excluding tried: Set<Int>, only: Int? = nil) -> Int? {
        if let only { return tried.contains(only) || !members.indices.contains(only) ? nil : only }
        if members.count == 1 { return tried.isEmpty ? 0 : nil }
        let now = loop.now
        var best: Int?
        for step in members.indices {
            let index = (turn + step) % members.count
            if tried.contains(index) { continue }
            guard let chosen = best else {
                best = index
                continue
            }
            let (mine, theirs) = (load(index, now), load(chosen, now))
            if mine < theirs { best = index }
        }
        if let best { turn = (best + 1) % members.count }
        return best
    }

    /// Lower is better: a member that was backed off from comes after all others.
    private func load(_ index: Int, _ now: NIODeadline) -> (backsOff: Int, active: Int) {
        (members[index].backOffUntil > now ? 1 : 0, members[index].busy)
    }

    /// Gets a connection for `seeker`: a suitable idle one, else a new one. The seeker is told at once or later.
    ///
    /// A new connection that is no longer wanted once it is made is kept for the next request.
    /// - Parameters:
    ///   - only: the one member that may be asked; nil for any.
    ///   - isRetry: whether the request has asked for a connection before.
    package func lend(
        to seeker: any UpstreamSeeker, _ reuse: UpstreamAttempt.Reuse, excluding tried: Set<Int>, only: Int? = nil,
        isRetry: Bool = false
    ) {
        if retries != nil {
            guard mayRetry(isRetry) else { return seeker.noUpstreamLeft() }
        }
        guard isSupervised else {
            guard let member = choose(excluding: tried, only: only) else { return seeker.noUpstreamLeft() }
            return provide(member, to: seeker, reuse)
        }
        switch claim(excluding: tried, only: only) {
        case .none: return seeker.noUpstreamLeft()
        case .full: return seeker.upstreamsAreFull()
        case .member(let member): return provide(member, to: seeker, reuse)
        }
    }

    /// Lends a connection to an upstream that was chosen, and whose place was taken where places are counted.
    private func provide(_ index: Int, to seeker: any UpstreamSeeker, _ reuse: UpstreamAttempt.Reuse) {
        let isCounted = terms.maxRequests != nil
        if let idle = takeIdle(index, reuse) {
            idle.isCounted = isCounted
            return seeker.connected(to: idle, isPooled: true)
        }
        makeRoom(index)
        let bound = NIOLoopBound((pool: self, seeker: seeker), eventLoop: loop)
        connect(index).assumeIsolated().whenComplete { result in
            let (pool, seeker) = bound.value
            switch result {
            case .success(let connection):
                connection.isCounted = isCounted
                guard seeker.isSeekingUpstream else { return pool.giveBack(connection) }
                seeker.connected(to: connection, isPooled: false)
            case .failure(let error):
                if isCounted { pool.members[index].health.leave() }
                seeker.failedToConnect(to: index, UpstreamFault(connecting: error))
            }
        }
    }

    /// An idle connection to the member, if there is one that should still be open. The one used last comes first.
    func takeIdle(_ index: Int, _ reuse: UpstreamAttempt.Reuse) -> UpstreamConnection? {
        let maxAge: TimeAmount
        switch reuse {
        case .none: return nil
        case .any: maxAge = Self.maxIdleTime
        case .recent: maxAge = Self.maxRecentTime
        }
        return members[index].takeIdle(notBefore: loop.now - maxAge)
    }

    /// Closes the connection that has been idle for longest, where there may be no further one.
    private func makeRoom(_ index: Int) {
        guard let most = maxConnections, members[index].busy + members[index].idle.count >= most,
            !members[index].idle.isEmpty
        else { return }
        members[index].idle.removeFirst().close()
    }
}
