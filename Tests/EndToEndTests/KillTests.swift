import BasicsForTests
import Foundation
import Synchronization
import Testing

/// The gateway is killed without warning, again and again, while it logs in, upgrades, refreshes and writes artifacts.
@Suite(.blocking(limit: .seconds(600))) struct KillTests {
    private static let wanted = 1_000
    private static let roundLimit = 60

    @Test("Every answered write is there after a kill, and none that was cut off is half done")
    func kills() async throws {
        let place = try GatewayProcess.makeDirectory()
        let configuration = "limits:\n  enabled: false\ntokens:\n  issuer: http://gatehouse.test"
        var gateway = try await GatewayProcess.start(configuration, users: [.ada, .bob], directory: place)
        let workers = [
            Worker(.ada, seed: 1), Worker(.bob, seed: 2), Worker(.ada, seed: 3), Worker(.bob, seed: 4),
        ]
        var rounds = 0
        while workers.reduce(0, { $0 + $1.answered }) < Self.wanted, rounds < Self.roundLimit {
            rounds += 1
            let running = gateway
            async let ended: [Void] = together(
                workers.map { worker in
                    { @Sendable in worker.work(on: running) }
                })
            // In the middle of something, after some more of it has been answered.
            let enough = workers.reduce(0) { $0 + $1.answered } + Int.random(in: 5...100)
            _ = try await eventually { workers.reduce(0) { $0 + $1.answered } >= enough }
            running.kill()
            _ = try await ended
            gateway = try await GatewayProcess.start(configuration, users: [], directory: place)
            for worker in workers { try worker.check(on: gateway) }
        }
        defer { gateway.stop() }
        let faults = workers.flatMap(\.faults)
        #expect(faults.isEmpty, "\(faults.prefix(5))")
        #expect(workers.reduce(0) { $0 + $1.answered } >= Self.wanted)
        #expect(rounds >= 3)
        #expect(workers.allSatisfy { $0.interrupted > 0 } || rounds < 8)
    }
}

/// One user at work: remembers what was answered, and what it was doing when the line went dead.
private final class Worker: Sendable {
    private struct Anonymous {
        let id: String
        let secret: String
    }

    private enum Doing {
        case upgrade(Anonymous)
        case refresh(String)
        case artifact(String, version: Int)
        case other
    }

    private struct State {
        var user: LoggedIn?
        var token = ""
        var refreshToken = ""
        var artifacts: [String: Int] = [:]
        /// Id and secret of sessions that were upgraded, and answered.
        var upgraded: [Anonymous] = []
        var doing = Doing.other
        /// Since when it has been doing it.
        var began = ContinuousClock.now
        var answered = 0
        var interrupted = 0
        var faults: [String] = []
    }

    private let account: TestUser
    private let seed: Int
    private let state = Mutex(State())

    init(_ account: TestUser, seed: Int) {
        self.account = account
        self.seed = seed
    }

    var answered: Int { state.withLock { $0.answered } }
    var interrupted: Int { state.withLock { $0.interrupted } }
    var faults: [String] { state.withLock { $0.faults } }

    /// Works until the gateway is gone.
    func work(on gateway: GatewayProcess) {
        do {
            try login(gateway)
            while true {
                try upgrade(gateway)
                for _ in 0..<3 { try refresh(gateway) }
                for _ in 0..<3 { try putArtifact(gateway) }
            }
        } catch {
            state.withLock { $0.interrupted += 1 }
        }
    }

    private func fault(_ text: String) { state.withLock { $0.faults.append("\(account.email): \(text)") } }
    private func doing(_ what: Doing) {
        state.withLock { state in
            state.doing = what
            state.began = ContinuousClock.now
        }
    }

    private func login(_ gateway: GatewayProcess) throws {
        doing(.other)
        let user = try gateway.login(account)
        state.withLock { state in
            state.user = user
            state.token = user.token
            state.refreshToken = user.refreshToken
            state.answered += 1
        }
    }

    private func upgrade(_ gateway: GatewayProcess) throws {
        doing(.other)
        let made = try gateway.request("POST", "/api/session/create-anonymous").json
        guard let id = made["session_id"] as? String, let secret = made["session_secret"] as? String else {
            return fault("no anonymous session: \(made)")
        }
        let session = Anonymous(id: id, secret: secret)
        doing(.upgrade(session))
        let answer = try gateway.request(
            "PATCH", "/api/session/\(id)/upgrade", headers: [bearer, ("Session-Secret", secret)])
        guard answer.status == 200, let next = answer.json["session_secret"] as? String else {
            return fault("upgrade: \(answer.status) \(answer.text)")
        }
        state.withLock { state in
            state.upgraded.append(Anonymous(id: id, secret: next))
            state.answered += 1
        }
    }

    private func refresh(_ gateway: GatewayProcess) throws {
        let presented = state.withLock { $0.refreshToken }
        doing(.refresh(presented))
        let answer = try gateway.request("POST", "/api/auth/refresh", json: ["refresh_token": presented])
        guard answer.status == 200, let next = answer.json["refresh_token"] as? String,
            let token = answer.json["access_token"] as? String
        else { return fault("refresh: \(answer.status) \(answer.text)") }
        state.withLock { state in
            state.refreshToken = next
            state.token = token
            state.answered += 1
        }
    }

    private func putArtifact(_ gateway: GatewayProcess) throws {
        let (name, version) = state.withLock { state in
            let name = "plan-\(seed)-\(state.answered % 5)"
            return (name, (state.artifacts[name] ?? 0) + 1)
        }
        doing(.artifact(name, version: version))
        let answer = try intent("artifact.put", ["name": name, "content": ["v": version]], gateway)
        guard answer["event"] as? String == "result" else { return fault("artifact.put: \(answer)") }
        state.withLock { state in
            state.artifacts[name] = version
            state.answered += 1
        }
    }

    // MARK: After the restart

    /// Everything that was answered must be there; what was under way must be wholly old or wholly new.
    func check(on gateway: GatewayProcess) throws {
        guard let user = state.withLock({ $0.user }) else { return }
        let (doing, upgraded, known) = state.withLock { ($0.doing, $0.upgraded, $0.artifacts) }
        // The first version of one may have been cut off, and be there nevertheless.
        var artifacts = known
        if case .artifact(let name, _) = doing, artifacts[name] == nil { artifacts[name] = 0 }
        state.withLock { $0.upgraded = [] }
        if case .refresh(let presented) = doing {
            guard try checkRefresh(presented, gateway) else { return try login(gateway) }
        } else {
            try refresh(gateway)
        }
        if !(try gateway.isHealthy(state.withLock { $0.token })) { fault("the last access token is refused") }
        for session in upgraded {
            let answer = try gateway.request(
                "GET", "/api/session/\(session.id)", headers: [("Session-Secret", session.secret)])
            if answer.json["user_id"] as? String != user.userID {
                fault("an answered upgrade is gone: \(answer.status) \(answer.text)")
            }
        }
        if case .upgrade(let session) = doing { try checkUpgrade(session, user, gateway) }
        for (name, version) in artifacts { try checkArtifact(name, version, doing, gateway) }
    }

    /// The token that was presented when the line went dead is good once more: as the current one, or repeating.
    ///
    /// - Returns: whether the login goes on; it does not where the machine took too long to come here.
    private func checkRefresh(_ presented: String, _ gateway: GatewayProcess) throws -> Bool {
        let answer = try gateway.request("POST", "/api/auth/refresh", json: ["refresh_token": presented])
        guard answer.status == 200, let next = answer.json["refresh_token"] as? String,
            let token = answer.json["access_token"] as? String
        else {
            // It repeats for ten seconds. Where the machine stops, it may come later: then it was rightly taken for a
            // stolen one, and all that the login had opened has ended.
            let began = state.withLock { $0.began }
            guard began.duration(to: .now) < .seconds(10) else { return false }
            fault("a cut-off refresh left nothing usable: \(answer.status) \(answer.text)")
            return true
        }
        state.withLock { state in
            state.refreshToken = next
            state.token = token
        }
        return true
    }

    private func checkUpgrade(_ session: Anonymous, _ user: LoggedIn, _ gateway: GatewayProcess) throws {
        let path = "/api/session/\(session.id)"
        let bySecret = try gateway.request("GET", path, headers: [("Session-Secret", session.secret)])
        let byOwner = try gateway.request("GET", path, headers: [bearer])
        let isOld = bySecret.json["state"] as? String == "anonymous" && byOwner.status == 403
        let isNew =
            byOwner.json["state"] as? String == "authenticated" && bySecret.status == 403
            && byOwner.json["user_id"] as? String == user.userID
        if isOld == isNew { fault("half an upgrade: \(bySecret.text) \(byOwner.text)") }
    }

    private func checkArtifact(_ name: String, _ version: Int, _ doing: Doing, _ gateway: GatewayProcess) throws {
        let answer = try intent("artifact.get", ["name": name], gateway)
        if version == 0, answer["event"] as? String == "error" { return }
        let data = answer["data"] as? [String: Any] ?? [:]
        guard let found = data["version"] as? Int, let content = data["content"] as? [String: Any],
            content["v"] as? Int == found
        else { return fault("artifact \(name): \(answer)") }
        var allowed = [version]
        if case .artifact(name, let next) = doing { allowed.append(next) }
        if !allowed.contains(found) { fault("artifact \(name): version \(found), answered \(version)") }
        state.withLock { $0.artifacts[name] = found }
    }

    private var bearer: (String, String) { ("Authorization", "Bearer \(state.withLock { $0.token })") }

    private func intent(
        _ name: String, _ params: [String: Any], _ gateway: GatewayProcess
    ) throws -> [String: Any] {
        let sessionID = state.withLock { $0.user?.sessionID ?? "" }
        let answer = try gateway.request(
            "POST", "/api/intent", headers: [bearer, ("Session-Id", sessionID)],
            json: ["id": UUID().uuidString, "intent": name, "params": params])
        return answer.json
    }
}
