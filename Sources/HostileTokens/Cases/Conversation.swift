import Encodings
import Synchronization

/// The requests of a probe to the target. All bytes are kept as evidence.
final class Conversation: Sendable {
    let target: Target
    let transport: Transport
    /// The valid token. Probes that use it list it in their needs.
    let token: [UInt8]?
    let material: AttackMaterial?
    let accounts: Accounts
    private let wire: Wire
    private let environment: Runner.Environment
    private let log = Mutex<[Exchange]>([])
    private let streams = Mutex<[RecordedStream]>([])

    /// A conversation of one probe; ``finish()`` ends it.
    ///
    /// - Parameters:
    ///   - token: the valid token of the run; nil if there is none.
    ///   - material: what hostile tokens are made from; nil if the token is no JWT.
    ///   - accounts: shared by all probes of a run.
    init(
        target: Target, transport: Transport, token: [UInt8]?, material: AttackMaterial?, accounts: Accounts,
        wire: Wire, environment: Runner.Environment
    ) {
        self.target = target
        self.transport = transport
        self.token = token
        self.material = material
        self.accounts = accounts
        self.wire = wire
        self.environment = environment
    }

    /// Closes the open connections and returns all exchanges.
    ///
    /// It is called once, after the verdict. The exchanges are in the order in which they ended; those of connections
    /// come last.
    func finish() async -> [Exchange] {
        for stream in streams.withLock({ $0 }) {
            await stream.close()
            log.withLock { $0.append(stream.exchange) }
        }
        return log.withLock { $0 }
    }

    // MARK: Requests

    /// The number of connections to the canary listener.
    var canaryVisits: Int { environment.canaryVisits() }

    /// Whether requests are sent byte for byte. Over HTTP/2 they are not.
    var keepsBytes: Bool { wire.open != nil }

    /// Whether requests travel over HTTP/2.
    var isHTTP2: Bool { wire.isHTTP2 }

    /// Sends a request on a connection of its own.
    ///
    /// The exchange is recorded before this returns or throws, whatever came of it.
    ///
    /// - Parameter label: the purpose, for the evidence: `control`, `attack` or a step.
    /// - Throws: ``SendFailure`` if there was no answer, ``Unjudged`` for 429, because a refusal by a rate limit proves
    ///   nothing.
    func exchange(_ label: String, _ request: RawRequest) async throws -> RawResponse {
        try await environment.pause()
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
    ///
    /// - Throws: as ``exchange(_:_:)``, but not for a connection that was closed or a stream that was reset.
    func attempt(_ label: String, _ request: RawRequest) async throws -> RawResponse? {
        do {
            return try await exchange(label, request)
        } catch let failure as SendFailure where failure.code == .closed || failure.code == .refused {
            return nil
        }
    }

    /// Opens a connection and sends bytes on it.
    ///
    /// The connection is closed by ``finish()`` at the latest.
    ///
    /// - Throws: ``Unfit`` over HTTP/2, ``SendFailure`` if no connection could be made.
    func open(_ label: String, _ request: RawRequest) async throws -> RecordedStream {
        guard let open = wire.open else { throw Unfit("takes a connection of its own over HTTP/1.1") }
        try await environment.pause()
        let stream = RecordedStream(label, try await open(), timeout: wire.timeout)
        streams.withLock { $0.append(stream) }
        try await stream.send(request.bytes)
        return stream
    }

    /// The requests with this text that the suite's own upstream received.
    ///
    /// They are those received up to now: a probe that expects nothing waits first, or sends a good request behind the
    /// attack.
    ///
    /// - Parameter text: looked for in the request line, byte for byte.
    /// - Throws: ``Unfit`` if the suite has no upstream of its own.
    func arrivals(of text: String) async throws -> [[UInt8]] {
        guard let arrivals = wire.arrivals else { throw Unfit(Need.canary.absence) }
        return await arrivals(text)
    }

    /// A request with the valid token in the configured carrier.
    ///
    /// - Throws: ``Unfit`` if there is no valid token, or the carrier cannot hold it.
    func good() throws -> RawRequest {
        guard let token else { throw Unfit(Need.token.absence) }
        guard let request = transport.request(.token(token), to: target) else { throw Unfit("no request can be made") }
        return request
    }

    /// The header field with the valid token, or with another, for requests written by hand.
    ///
    /// - Parameter other: another token in place of the valid one.
    /// - Throws: ``Unfit`` if the token travels in the query, in a body or in a WebSocket's handshake.
    func credentialField(_ other: [UInt8]? = nil) throws -> (name: String, value: String) {
        guard let token = other ?? token else { throw Unfit(Need.token.absence) }
        let text = String(decoding: token, as: UTF8.self)
        switch transport {
        case .authorization:
            let prefix = target.carrierPrefix ?? (target.carrierName == nil ? "Bearer " : "")
            return (target.carrierName ?? "Authorization", prefix + text)
        case .cookie: return ("Cookie", "\(target.carrierName ?? "session")=\(text)")
        default: throw Unfit("the token travels in no field")
        }
    }

    /// The line of the header field with the valid token, or with another.
    func credentialFields(_ other: [UInt8]? = nil) throws -> String {
        let (name, value) = try credentialField(other)
        return "\(name): \(value)\r\n"
    }

    // MARK: Accounts

    /// A new login of the first or second user.
    ///
    /// - Parameters:
    ///   - index: 0 for the first user of the profile, 1 for the second.
    ///   - secret: the secret of a session to log in to; nil for none.
    ///   - sessionID: an id that the login names; nil for none.
    /// - Throws: ``Unfit`` if the profile has no such user, ``Unjudged`` if the login is refused or gives no token.
    func login(
        _ index: Int = 0, secret: String? = nil, sessionID: String? = nil
    ) async throws -> Member {
        let answer = try await loginAnswer(index, secret: secret, sessionID: sessionID)
        guard answer.isSuccess else { throw Unjudged("the login got \(answer.status)") }
        guard let member = Member(answer) else { throw Unjudged("the login's answer holds no access token") }
        return member
    }

    /// The answer to a login, whatever it is, for probes whose attack is the login.
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
    ///
    /// A login is shared for half the lifetime of its token, or for a minute if the answer names none.
    func shared(_ index: Int = 0) async throws -> Member {
        if let member = await accounts.shared(index, now: environment.now()) { return member }
        let member = try await login(index)
        await accounts.share(member, index, now: environment.now())
        return member
    }

    // MARK: API requests

    /// Sends a request to the API, with a JSON body if one is given.
    ///
    /// Credentials are sent as Gatehouse takes them: the token in `Authorization`, the secret in `Session-Secret`.
    func api(
        _ method: String, _ path: String, token: String? = nil, secret: String? = nil, body: JSONObject? = nil,
        fields: [(String, String)] = [], label: String
    ) async throws -> RawResponse {
        try await exchange(
            label, apiRequest(method, path, token: token, secret: secret, body: body, fields: fields))
    }

    /// The request that ``api(_:_:token:secret:body:fields:label:)`` sends. It asks for the end of the connection.
    ///
    /// - Parameter extra: further fields; a `Content-Type` among them replaces that of JSON.
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
