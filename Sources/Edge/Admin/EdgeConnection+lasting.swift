import AdminAPI
import EdgeCore
import Gate
import Runtime
import SecurityGuard

extension EdgeConnection {
    /// The socket or stream that stays open on this connection; nil where there is none. A request that was deferred
    /// while the store was asked is looked through.
    var lasting: (exchange: any LastingExchange, kind: OpenConnection.Kind)? {
        var answering = self.exchange
        while let deferred = answering as? DeferredExchange { answering = deferred.inner }
        guard let exchange = (tunnel as? any LastingExchange) ?? (answering as? any LastingExchange),
            let kind = exchange.lastingKind
        else { return nil }
        switch kind {
        case .socket: return (exchange, .socket)
        case .relay: return (exchange, .relay)
        case .stream: return (exchange, .stream)
        }
    }

    /// What an operator is told of it. Ids of sessions are cut to 12 characters.
    var openConnection: OpenConnection? {
        guard let (exchange, kind) = lasting else { return nil }
        var found = OpenConnection(
            id: requestID.text, kind: kind, route: record.route.label, since: record.receivedAt)
        let (principal, permit) = (record.admission?.principal, record.admission?.permit)
        found.session = permit.map { String($0.sessionID.prefix(AccessLine.sessionLength)) }
        found.userID = principal?.subject ?? permit?.userID
        found.tenantID = principal?.tenantID ?? permit?.tenantID
        found.clientID = principal?.clientID
        found.client = record.client ?? origin.peerText
        found.endsAt = exchange.endsAt
        return found
    }
}
