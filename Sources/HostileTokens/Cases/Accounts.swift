/// The users, and the logins that probes share.
actor Accounts {
    private let logins: [Login]
    private var members: [Int: (member: Member, since: Int64)] = [:]
    /// The authorization server, once its metadata have been read.
    private(set) var service: AuthorizationService?

    init(_ logins: [Login]) {
        self.logins = logins
    }

    nonisolated func login(_ index: Int) -> Login? {
        logins.indices.contains(index) ? logins[index] : nil
    }

    /// A shared login whose token has more than half of its lifetime left.
    func shared(_ index: Int, now: Int64) -> Member? {
        guard let (member, since) = members[index], now - since < (member.lifetime ?? 120) / 2 else { return nil }
        return member
    }

    /// Makes the next shared login of a user a new one, because the old ones have ended.
    func forget(_ index: Int) {
        members[index] = nil
    }

    func keep(_ service: AuthorizationService) {
        self.service = service
    }

    func share(_ member: Member, _ index: Int, now: Int64) {
        members[index] = (member, now)
    }
}
