import EdgeConfiguration
import Encodings
import Testing

/// An endpoint of the API, a request that it answers, and what can be wrong with one, in the order in which it is told.
struct APIOrder: Sendable, CustomTestStringConvertible {
    /// Which secret the request has, and so which session its path names.
    enum Secret: Sendable {
        case none
        case own
        /// That of an anonymous session.
        case guest
    }

    let method: String
    let path: String
    /// What the request is answered while nothing is wrong with it.
    let status: Int
    let secret: Secret
    /// The body's members, with their values as JSON.
    let members: [(name: String, value: String)]
    let faults: [APIFault]

    init(
        _ method: String, _ path: String, _ status: Int, secret: Secret = .none,
        members: [(name: String, value: String)] = [], _ faults: [APIFault]
    ) {
        self.method = method
        self.path = path
        self.status = status
        self.secret = secret
        self.members = members
        self.faults = faults
    }

    var testDescription: String { "\(method) \(path)" }

    static let rows: [APIOrder] = sessions + sessionsOfOthers + signingIn + passkeys + ownThings

    private static let sessions: [APIOrder] = [
        APIOrder("GET", "/api/session/current", 200, secret: .own, [.noSecret, .wrongSecret]),
        APIOrder(
            "GET", "/api/session/{id}", 200, secret: .own,
            [.swappedID, .noCredential, .forgedToken, .foreignSession]),
        APIOrder("GET", "/api/session", 200, [.noToken, .forgedToken]),
        APIOrder(
            "DELETE", "/api/session/{id}", 204, secret: .own,
            [.swappedID, .noCredential, .forgedToken, .unknownMember, .foreignSession]),
        APIOrder(
            "POST", "/api/session/{id}/ticket", 200,
            [.swappedID, .noToken, .forgedToken, .unknownMember, .silentStore, .foreignSession]),
        // The body may carry the token.
        APIOrder(
            "PATCH", "/api/session/{id}/upgrade", 200, secret: .guest,
            [
                .swappedID, .unknownMember, .swappedMember("access_token"), .swappedMember("user_id"), .twoCarriers,
                .noToken, .noSecret, .forgedToken, .otherUser, .silentStore, .wrongSecret,
            ]),
        APIOrder("POST", "/api/session/create-anonymous", 200, [.unknownMember, .silentStore]),
        APIOrder(
            "POST", "/api/session/create", 200,
            [.noToken, .forgedToken, .unknownMember, .swappedMember("user_id"), .otherUser, .silentStore]),
        APIOrder(
            "POST", "/api/intent", 200,
            members: [("id", #""c1""#), ("intent", #""echo""#), ("params", #"{"a":1}"#)],
            [.noToken, .noField, .forgedToken, .silentStore, .foreignField, .malformedBody]),
    ]

    /// The gateway's own token extends nothing, so no request is without a fault. A token of another issuer is identified
    /// after the store was asked for.
    private static let sessionsOfOthers: [APIOrder] = [
        APIOrder(
            "POST", "/api/session/{id}/extend", 401,
            [.swappedID, .noToken, .unknownMember, .silentStore, .forgedToken])
    ]

    private static let signingIn: [APIOrder] = [
        APIOrder(
            "POST", "/api/auth/login", 200,
            members: [("email", #""ada@example.com""#), ("password", "\"\(APIFixture.password)\"")],
            [.unknownMember, .swappedMember("session_id"), .silentStore]),
        APIOrder(
            "POST", "/api/auth/register", 200,
            members: [("email", #""eve@example.com""#), ("password", "\"\(APIFixture.password)\"")],
            [.unknownMember, .silentStore]),
        // The body may carry the credential of these two.
        APIOrder(
            "POST", "/api/auth/refresh", 200, members: [("refresh_token", APIOrderScene.refreshToken)],
            [.unknownMember, .swappedMember("refresh_token"), .noMember("refresh_token"), .silentStore]),
        APIOrder(
            "POST", "/api/auth/logout", 204, [.unknownMember, .swappedMember("refresh_token"), .forgedToken]),
    ]

    private static let passkeys: [APIOrder] = [
        APIOrder(
            "POST", "/api/auth/passkey/register/begin", 200, secret: .own,
            [.noToken, .noSecret, .forgedToken, .unknownMember, .silentStore, .wrongSecret]),
        // No ceremony is under way: the members that are not there are refused last.
        APIOrder(
            "POST", "/api/auth/passkey/register/finish", 400, secret: .own,
            [.noToken, .noSecret, .forgedToken, .unknownMember, .silentStore, .wrongSecret]),
        APIOrder(
            "POST", "/api/auth/passkey/login/begin", 200, secret: .guest,
            [.noSecret, .unknownMember, .silentStore, .wrongSecret]),
        APIOrder(
            "POST", "/api/auth/passkey/login/finish", 401, secret: .guest,
            [.noSecret, .unknownMember, .silentStore, .wrongSecret]),
        APIOrder("GET", "/api/auth/passkeys", 200, [.noToken, .forgedToken]),
        APIOrder(
            "DELETE", "/api/auth/passkeys/{id}", 404, [.noToken, .forgedToken, .unknownMember, .silentStore]),
    ]

    private static let ownThings: [APIOrder] = [
        APIOrder("GET", "/api/auth/me", 200, [.noToken, .forgedToken]),
        APIOrder(
            "POST", "/api/auth/password", 204, secret: .own,
            members: [("current", "\"\(APIFixture.password)\""), ("new", #""another good one""#)],
            [.noToken, .forgedToken, .unknownMember, .silentStore]),
        APIOrder("GET", "/api/auth/grants", 200, [.noToken, .forgedToken]),
        APIOrder("DELETE", "/api/auth/grants/{id}", 404, [.noToken, .forgedToken, .unknownMember, .silentStore]),
        APIOrder("GET", "/api/auth/tokens", 200, [.noToken, .forgedToken]),
        APIOrder(
            "POST", "/api/auth/tokens", 201,
            members: [("name", #""ci""#), ("scopes", "[]"), ("expires_in", "600")],
            [.noToken, .forgedToken, .unknownMember, .noMember("name"), .silentStore]),
        APIOrder("DELETE", "/api/auth/tokens/{id}", 404, [.noToken, .forgedToken, .unknownMember, .silentStore]),
    ]
}

/// One thing that is wrong with a request.
enum APIFault: Sendable {
    case swappedID, noToken, noSecret, noCredential, noField, forgedToken, twoCarriers
    case unknownMember, malformedBody, otherUser, silentStore, foreignSession, foreignField, wrongSecret
    case swappedMember(String)
    case noMember(String)

    /// What it is told as.
    var code: String {
        switch self {
        case .swappedID, .swappedMember: "credentials_swapped"
        case .noToken, .noSecret, .noCredential, .noField: "credentials_missing"
        case .noMember(let name): name == "refresh_token" ? "credentials_missing" : "invalid_request"
        case .forgedToken: "invalid_token"
        case .twoCarriers, .malformedBody: "invalid_request"
        case .unknownMember: "unknown_member"
        case .otherUser: "identity_mismatch"
        case .silentStore: "store_unavailable"
        case .foreignSession, .foreignField, .wrongSecret: "session_mismatch"
        }
    }
}

/// Ada, who has signed in, a guest's session, and another one that is nobody's in the test.
struct APIOrderScene {
    /// Stands for Ada's refresh token, as JSON.
    static let refreshToken = "REFRESH"

    private struct Wish {
        var id: String
        var token: String?
        var secret: String?
        var sessionID: String?
        var members: [(name: String, value: String)]
        var isMalformed = false
        var feedIsAlive = true

        mutating func set(_ name: String, _ value: String?) {
            members.removeAll { $0.name == name }
            if let value { members.append((name, value)) }
        }

        var body: String {
            if isMalformed { return "{" }
            if members.isEmpty { return "" }
            return "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
        }
    }

    private let fixture: APIFixture
    private let login: Answer
    private let guest: Answer
    private let other: Answer

    init() async throws {
        fixture = try await APIFixture { $0.accounts.registration = true }
        _ = try await fixture.account()
        login = try await fixture.login()
        guest = try await fixture.anonymous()
        other = try await fixture.anonymous()
    }

    /// Sends the request of a row with these faults. Where two can't be in one request, it has the one that comes first.
    func ask(_ row: APIOrder, _ faults: [APIFault]) async throws -> Answer {
        var wish = Wish(
            id: row.secret == .guest ? guest.sessionID : login.sessionID, token: login.token, secret: nil,
            sessionID: login.sessionID, members: row.members)
        switch row.secret {
        case .none: break
        case .own: wish.secret = login.secret
        case .guest: wish.secret = guest.secret
        }
        for fault in faults.reversed() { spoil(&wish, fault) }
        if wish.feedIsAlive { fixture.regainFeed() } else { fixture.loseFeed() }
        let body = wish.body.replacing(Self.refreshToken, with: "\"\(login.refreshToken ?? "")\"")
        return try await fixture.send(
            row.method, row.path.replacing("{id}", with: wish.id),
            Ask(body, token: wish.token, secret: wish.secret, sessionID: wish.sessionID))
    }

    private func spoil(_ wish: inout Wish, _ fault: APIFault) {
        switch fault {
        case .swappedID: wish.id = "sec_AAAA"
        case .noToken: wish.token = nil
        case .noSecret: wish.secret = nil
        case .noCredential: (wish.token, wish.secret) = (nil, nil)
        case .noField: wish.sessionID = nil
        case .forgedToken: wish.token = "a.b.c"
        case .twoCarriers:
            wish.token = login.token
            wish.set("access_token", "\"\(login.token)\"")
        case .unknownMember: wish.set("nonsense", "1")
        case .malformedBody: wish.isMalformed = true
        case .otherUser: wish.set("user_id", #""usr_other""#)
        case .silentStore: wish.feedIsAlive = false
        case .foreignSession: wish.id = other.sessionID
        case .foreignField: wish.sessionID = other.sessionID
        case .wrongSecret: wish.secret = "sec_" + Base64URL.encode([UInt8](repeating: 7, count: 32))
        case .swappedMember(let name): wish.set(name, #""sec_AAAA""#)
        case .noMember(let name): wish.set(name, nil)
        }
    }
}
