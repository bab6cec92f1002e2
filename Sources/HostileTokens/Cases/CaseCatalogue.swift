/// All cases.
public enum CaseCatalogue {
    /// All cases: tokens first, then sessions, refresh tokens, OAuth, WebSockets, the proxy and HTTP.
    public static let all: [HostileCase] =
        AttackCatalogue.all.map(HostileCase.token) + probes.map(HostileCase.probe)

    private static let probes: [Probe] = [
        TokenProbes.all, SessionProbes.all, RefreshProbes.all, AuthorizeProbes.all, GrantProbes.all, ResourceProbes.all,
        SocketProbes.all, CredentialProbes.all, LeaseProbes.all, TunnelProbes.all, RequestProbes.all, LineProbes.all,
        UpstreamProbes.all, TrailerProbes.all, ConnectionProbes.all, AnswerProbes.all, CacheProbes.all,
        DesyncProbes.all, DowngradeProbes.all,
    ].flatMap(\.self)

    /// The cases that match one pattern of `only` and none of `skip`.
    ///
    /// - Parameters:
    ///   - only: ids, or patterns as ``Glob`` knows them; empty for all cases.
    ///   - skip: ids or patterns of cases to leave out.
    public static func cases(only: [String] = [], skip: [String] = []) -> [HostileCase] {
        all.filter { Glob.selects($0.info.id, only: only, skip: skip) }
    }

    /// The case with this id, or nil.
    public static func named(_ id: String) -> HostileCase? {
        all.first { $0.info.id.utf8.elementsEqual(id.utf8) }
    }
}
