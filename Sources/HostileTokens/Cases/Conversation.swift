import Encodings
import Synchronization

/// The requests of a probe to the target. All bytes are kept as evidence.
final class Conversation: Sendable {
    let target: Target
    let transport: Transport
    /// The valid token. Probes that use it list it in their needs.
    let token: [UInt8]?
    let material: AttackMaterial?
    private let accounts: Accounts
    private let wire: Wire
    private let surroundings: Runner.Surroundings
    private let log = Mutex<[Exchange]>([])
    private let streams = Mutex<[RecordedStream]>([])

    init(
        target: Target, transport: Transport, token: [UInt8]?, material: AttackMaterial?, accounts: Accounts,
        wire: Wire, surroundings: Runner.Surroundings
    ) {
        self.target = target
        self.transport = transport
        self.token = token
        self.material = material
        self.accounts = accounts
        self.wire = wire
        self.surroundings = surroundings
    }

    /// Closes the open connections and returns all exchanges.
    func finish() async -> [Exchange] {
        for stream in streams.withLock({ $0 }) {
            await stream.close()
            log.withLock { $0.append(stream.exchange) }
        }
        return log.withLock { $0 }
    }

    // MARK: Requests

    /// Whether requests are sent byte for byte. Over HTTP/2 they are not.
    var keepsBytes: Bool { wire.open != nil }

    /// Sends a request on a connection of its own.
    func exchange(_ label: String, _ request: RawRequest) async throws -> RawResponse {
        try await surroundings.pause()
        do {
            let response = try await wire.send(request)
            log.withLock { $0.append(Exchange(label, request, .success(response))) }
            guard response.status != 429 else { throw Unjudged("429: the target limits the rate") }
            return response
        } catch let failure as SendFailure {
            log.withLock { $0.append(Exchange(label, request, .failure(failure))) }
            throw failure
        }
    }

    /// Sends a request where closing the connection counts as a refusal; nil if it was closed.
    func attempt(_ label: String, _ request: RawRequest) async throws -> RawResponse? {
        do {
            return try await exchange(label, request)
        } catch let failure as SendFailure where failure.code == .closed || failure.code == .refused {
            return nil
        }
    }

    /// Opens a connection and sends bytes on it.
    func open(_ label: String, _ request: RawRequest) async throws -> RecordedStream {
        guard let open = wire.open else { throw Unfit("takes a connection of its own over HTTP/1.1") }
        try await surroundings.pause()
        let stream = RecordedStream(label, try await open())
        streams.withLock { $0.append(stream) }
        try await stream.send(request.bytes)
        return stream
    }

    /// The requests with this text that the suite's own upstream received.
    func arrivals(of text: String) async throws -> [[UInt8]] {
        guard let arrivals = wire.arrivals else { throw Unfit(Need.canary.absence) }
        return await arrivals(text)
    }

    /// A request with the valid token in the configured carrier.
    func good(_ method: String = "GET") throws -> RawRequest {
        guard let token else { throw Unfit(Need.token.absence) }
        guard let request = transport.request(.token(token), to: target) else { throw Unfit("no request can be made") }
        return request
    }

    /// The header fields with the valid token, for requests written by hand. Empty if the token is sent in the query.
    func credentialFields() throws -> String {
        guard let token else { throw Unfit(Need.token.absence) }
        let text = String(decoding: token, as: UTF8.self)
        switch transport {
        case .authorization:
            let prefix = target.carrierPrefix ?? (target.carrierName == nil ? "Bearer " : "")
            return "\(target.carrierName ?? "Authorization"): \(prefix)\(text)\r\n"
        case .cookie: return "Cookie: \(target.carrierName ?? "session")=\(text)\r\n"
        default: throw Unfit("the token travels in no field")
        }
    }

    // MARK: Accounts

    /// A new login of the first or second user.
    func login(
        _ index: Int = 0, secret: String? = nil, sessionID: String? = nil
    ) async throws -> Member {
        let answer = try await loginAnswer(index, secret: secret, sessionID: sessionID)
        guard (200..<300).contains(answer.status) else { throw Unjudged("the login got \(answer.status)") }
        guard let member = Member(answer) else { throw Unjudged("the login's answer holds no access token") }
        return member
    }

    func loginAnswer(
        _ index: Int, secret: String? = nil, sessionID: String? = nil, fields: [(String, String)] = []
    ) async throws -> RawResponse {
        guard let login = accounts.login(index) else {
            throw Unfit(index == 0 ? Need.login.absence : Need.twoUsers.absence)
        }
        var body = login.body
        if let sessionID { body["session_id"] = .string(sessionID) }
        return try await api("POST", login.path, secret: secret, body: body, fields: fields, label: "login")
    }

    /// A login that is shared by the probes that do not end it.
    func shared(_ index: Int = 0) async throws -> Member {
        if let member = await accounts.shared(index, now: surroundings.now()) { return member }
        let member = try await login(index)
        await accounts.share(member, index, now: surroundings.now())
        return member
    }

    // MARK: API requests

    /// Sends a request to the API, with a JSON body if one is given.
    func api(
        _ method: String, _ path: String, token: String? = nil, secret: String? = nil, body: JSONObject? = nil,
        fields: [(String, String)] = [], label: String
    ) async throws -> RawResponse {
        try await exchange(
            label, apiRequest(method, path, token: token, secret: secret, body: body, fields: fields))
    }

    func apiRequest(
        _ method: String, _ path: String, token: String? = nil, secret: String? = nil, body: JSONObject? = nil,
        fields extra: [(String, String)] = []
    ) -> RawRequest {
        var fields = extra
        if let token { fields.append(("Authorization", "Bearer \(token)")) }
        if let secret { fields.append(("Session-Secret", secret)) }
        let content = body.map { Array($0.serialized().utf8) } ?? []
        if body != nil, !extra.contains(where: { $0.0 == "Content-Type" }) {
            fields.append(("Content-Type", "application/json"))
        }
        if body != nil || method != "GET" { fields.append(("Content-Length", String(content.count))) }
        fields.append(("Connection", "close"))
        return RawRequest(
            method, Array(path.utf8), authority: target.authority, fields: fields.map { ($0.0, Array($0.1.utf8)) },
            body: content)
    }
}

/// The credentials of a user who has signed in.
struct Member: Sendable {
    let accessToken: String
    let refreshToken: String?
    let sessionID: String?
    let secret: String?
    let userID: String?
    let lifetime: Int64?

    init?(_ response: RawResponse) {
        guard case .success(let object) = Result(catching: { try StrictJSON.object(response.content) }),
            let token = object["access_token"]?.stringValue
        else { return nil }
        accessToken = token
        refreshToken = object["refresh_token"]?.stringValue
        sessionID = object["session_id"]?.stringValue
        secret = object["session_secret"]?.stringValue
        userID = object["user_id"]?.stringValue
        lifetime = object["expires_in"]?.int64Value
    }
}

extension Login {
    fileprivate var body: JSONObject {
        var body: JSONObject = ["email": .string(email), "password": .string(password)]
        if let tenant { body["tenant_id"] = .string(tenant) }
        return body
    }

    /// The request that signs in.
    public func request(to target: Target) -> RawRequest {
        let content = Array(body.serialized().utf8)
        let fields = [
            ("Content-Type", "application/json"), ("Content-Length", String(content.count)), ("Connection", "close"),
        ]
        return RawRequest(
            "POST", Array(path.utf8), authority: target.authority, fields: fields.map { ($0.0, Array($0.1.utf8)) },
            body: content)
    }

    /// The token and the session id in the answer to a login. The token is the value of the cookie with this name, or
    /// without a name `access_token` in the body.
    public static func credentials(from answer: RawResponse, cookie: String?) -> (token: [UInt8], session: String?)? {
        guard (200..<400).contains(answer.status) else { return nil }
        if let cookie {
            for value in answer.fields("set-cookie") where value.hasPrefix(cookie + "=") {
                return (Array(value.utf8.dropFirst(cookie.utf8.count + 1).prefix { $0 != 0x3B }), nil)
            }
        }
        return Member(answer).map { (Array($0.accessToken.utf8), $0.sessionID) }
    }
}

/// The users, and the logins that probes share.
actor Accounts {
    private let logins: [Login]
    private var members: [Int: (member: Member, since: Int64)] = [:]

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

    func share(_ member: Member, _ index: Int, now: Int64) {
        members[index] = (member, now)
    }
}

/// A connection that records its bytes.
final class RecordedStream: Sendable {
    private let label: String
    private let stream: any WireStream
    private let log = Mutex<(sent: [UInt8], received: [UInt8])>(([], []))

    init(_ label: String, _ stream: any WireStream) {
        self.label = label
        self.stream = stream
    }

    func send(_ bytes: [UInt8]) async throws {
        log.withLock { $0.sent += bytes }
        try await stream.send(bytes)
    }

    /// What is received within the time, or until `isEnough` returns true.
    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool) {
        let received = await stream.receive(within: limit, until: isEnough)
        log.withLock { log in
            if log.received.count < Exchange.receivedLimit { log.received += received.bytes }
        }
        return received
    }

    /// The answer to a request; nil if there is none within the time or before the connection ended.
    func answer(within limit: Duration = .seconds(10)) async -> RawResponse? {
        let received = await receive(within: limit) { RawResponse(parsing: $0)?.isComplete ?? false }
        return RawResponse(parsing: received.bytes)
    }

    /// Whether the target closes the connection or the WebSocket within the time.
    func ends(within limit: Duration) async -> Bool {
        let received = await receive(within: limit, until: Frame.holdsClose)
        return received.hasEnded || Frame.holdsClose(received.bytes)
    }

    func close() async {
        await stream.close()
    }

    var exchange: Exchange {
        let bytes = log.withLock { $0 }
        return Exchange(
            label: label, sent: bytes.sent, received: bytes.received,
            status: RawResponse(parsing: bytes.received)?.status)
    }
}

/// Writes WebSocket frames (RFC 6455 section 5.2), valid and invalid ones.
enum Frame {
    /// A client frame. The masking key is zero, so the payload is unchanged.
    static func masked(first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        guard payload.count < 126 else {
            let count = UInt16(truncatingIfNeeded: payload.count)
            return [first, 0x80 | 126, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0] + payload
        }
        return [first, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    static func text(_ text: String) -> [UInt8] { masked(first: 0x81, Array(text.utf8)) }

    /// Whether the server's frames include a Close.
    static func holdsClose(_ bytes: [UInt8]) -> Bool {
        var index = 0
        while index + 1 < bytes.count {
            if bytes[index] & 0x0F == 8 { return true }
            var length = Int(bytes[index + 1] & 0x7F)
            var start = index + 2
            let extra = length == 126 ? 2 : length == 127 ? 8 : 0
            if extra > 0 {
                guard start + extra <= bytes.count else { return false }
                length = bytes[start..<(start + extra)].reduce(0) { ($0 << 8 | Int($1)) & 0xFFFF_FFFF }
                start += extra
            }
            index = start + length
        }
        return false
    }
}
