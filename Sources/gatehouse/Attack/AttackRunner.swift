import EdgeCore
import Foundation
import Glibc
import HostileTokens
import JOSE
import Synchronization

/// One run of the attack suite, with the options of the command line and the profile.
struct AttackRunner {
    /// What the command line says, apart from the target and the selection.
    struct Options {
        /// `--transport`, or else the profile's carrier.
        let transport: Transport
        /// `--token`; `-` stands for standard input. It goes before what environment and profile say.
        let token: String?
        /// The token of the environment, if none stands on the command line.
        let environmentToken: [UInt8]?
        /// The id and secret of the introspection client, `ID:SECRET`, from the environment.
        let client: String?
        /// Whether `--profile` was given. A profile without a source of tokens means that there is none, and standard
        /// input is not read.
        let hasProfile: Bool
        /// Where the key set is that was named, and what sends there; nil for the target's usual one.
        let keySet: (targetURL: TargetURL, sender: RawSender)?
        /// `--key`: the file of a private key that the target trusts; nil leaves out rightly signed hostile tokens.
        let key: String?
        /// `--session`: the id of the session of the valid token, in place of the one that a login returned.
        let session: String?
        /// `--rate`: how many requests may begin in a second.
        let rate: Int
        /// `--strict`: whether a refusal needs the status that the standards name, and what is policy is judged, too.
        let isStrict: Bool
    }

    /// Where everything is sent, but for the key set that `--jwks` names.
    let targetURL: TargetURL
    let profile: AttackProfile
    let sender: RawSender
    let options: Options

    /// The target's name in reports.
    var place: String { targetURL.origin + protectedPath }
    /// The path that requires a token; the usual one is that of a Gatehouse.
    private var protectedPath: String { targetURL.path ?? profile.path ?? "/api/auth/me" }

    // MARK: Running

    /// Sends what a report has recorded, and judges the answers.
    func run(_ replay: Replay) async throws -> Report {
        let pacer = Pacer(perSecond: options.rate)
        return try await withUpstream { _ in
            try await replay.run(over: sender.wire, target: target(nil)) { try await pacer.wait() }
        }
    }

    /// Runs cases of the catalogue.
    func run(_ cases: [HostileCase]) async throws -> Report {
        if options.transport == .introspection, options.client == nil {
            throw CommandFailure(
                "--transport introspection asks as a client: put CLIENT_ID:CLIENT_SECRET into \(Self.clientVariable.name)",
                status: .misused)
        }
        return try await withUpstream { try await attack(cases, $0) }
    }

    /// Listens as the upstream of the canary's route, if the profile names one, until the run has ended. Getting the
    /// valid token may need it, too.
    private func withUpstream(_ run: (RecordingUpstream?) async throws -> Report) async throws -> Report {
        let upstream = try await openUpstream()
        do {
            let report = try await run(upstream)
            await upstream?.close()
            return report
        } catch {
            await upstream?.close()
            throw error
        }
    }

    /// Runs the cases with a good token. Where none can be had, all are left without a judgement.
    private func attack(_ cases: [HostileCase], _ upstream: RecordingUpstream?) async throws -> Report {
        let good: Credentials?
        do {
            good = try await credentials()
        } catch let failure as SendFailure {
            return unjudged(cases, failure.description)
        }
        let canary = PackedAddress.isLoopback(host: targetURL.host) ? try await CanaryListener.open() : nil
        defer { if let canary { Task { await canary.close() } } }
        if options.transport.isSocket, profile.socket?.session != Target.SocketSession.none,
            options.session ?? good?.session == nil
        {
            throw CommandFailure(
                "--transport \(options.transport.rawValue) needs the good token's --session", status: .misused)
        }
        let material = try await material(good, canary)
        var wire = sender.wire
        if let upstream { wire.arrivals = { upstream.requests(with: $0) } }
        let runner = Runner(
            target: target(good?.session), transport: options.transport, token: good?.token, material: material,
            environment: environment(canary), wire: wire)
        let progress = AttackProgress(total: cases.count)
        do {
            let report = try await runner.run(cases) { progress.note($0) }
            progress.end()
            return report
        } catch let error as RunError {
            progress.end()
            return unjudged(cases, error.description)
        }
    }

    /// A report in which no case was judged, because the target could not be reached.
    private func unjudged(_ cases: [HostileCase], _ reason: String) -> Report {
        Terminal.notice(ErrorText.oneLine("gatehouse: \(place): \(reason)"))
        return .unjudged(cases, transport: options.transport, reason: reason)
    }

    /// Clock, rate limit and canary of a run. A token that the target issues is renewed when it has ended.
    private func environment(_ canary: CanaryListener?) -> Runner.Environment {
        let pacer = Pacer(perSecond: options.rate)
        let runner = self
        var environment = Runner.Environment(
            now: { SystemClock.milliseconds() / 1_000 }, pause: { try await pacer.wait() },
            canaryVisits: { canary?.visits ?? 0 })
        if options.token == nil, profile.source != nil, options.environmentToken == nil {
            environment.renew = { try await runner.credentials()?.token ?? [] }
        }
        return environment
    }

    /// The upstream that the profile names; nil for a profile without one.
    private func openUpstream() async throws(CommandFailure) -> RecordingUpstream? {
        guard let canary = profile.canary else { return nil }
        return try await RecordingUpstream.open(host: canary.host, port: canary.port)
    }

    // MARK: Credentials and material

    /// Where the introspection client is named.
    static let clientVariable = AttackVariable(name: "GATEHOUSE_ATTACK_CLIENT")

    /// The target as the profile describes it.
    private func target(_ session: String?) -> Target {
        var target = Target(authority: targetURL.authority, path: protectedPath, socketPath: profile.socket?.path)
        target.isSecure = targetURL.isSecure
        target.successStatuses = profile.successStatuses
        target.carrierName = profile.carrierName
        target.carrierPrefix = profile.carrierPrefix
        target.carrier = profile.carrier
        if let socket = profile.socket {
            target.socketCarriers = socket.carriers
            target.socketCookie = socket.cookie
            target.socketSession = socket.session
        }
        target.sessionID = options.session ?? session
        target.clientAuthorization = options.client.map { "Basic " + Data($0.utf8).base64EncodedString() }
        target.canaryPath = profile.canary?.route
        target.promises = profile.promises
        target.oauth = profile.oauth
        target.users = profile.users
        target.isStrict = options.isStrict
        return target
    }

    /// A good token, and the session that came with it.
    private struct Credentials {
        /// Opaque tokens are fine, too: then the cases that need a JWT are skipped.
        let token: [UInt8]
        /// The id that a login returned beside the token; nil if it returned none, or there was no login.
        var session: String?
    }

    /// The valid token; nil if none is configured.
    private func credentials() async throws -> Credentials? {
        if options.token != nil { return Credentials(token: try GoodToken.read(options.token)) }
        if let token = options.environmentToken { return Credentials(token: token) }
        switch profile.source {
        case .command(let command): return Credentials(token: try GoodToken.read(command: command))
        case .file(let path): return Credentials(token: try GoodToken.read(file: path))
        case .login(let settings):
            let answer = try await sender.send(settings.login.request(to: target(nil)))
            let cookie = options.transport == .cookie ? profile.carrierName : nil
            guard let (token, session) = Login.credentials(from: answer, cookie: cookie) else {
                let wanted = cookie.map { "the cookie \($0)" } ?? "an access_token"
                throw SendFailure(
                    .unreadable,
                    "the login at \(settings.path) was answered \(answer.status) without \(wanted): see 'token.login'")
            }
            return Credentials(token: token, session: session)
        case nil: return options.hasProfile ? nil : Credentials(token: try GoodToken.read(nil))
        }
    }

    /// What hostile tokens are made from; nil if the valid token is not a JWT.
    private func material(_ good: Credentials?, _ canary: CanaryListener?) async throws -> AttackMaterial? {
        guard let good else { return nil }
        let keySet: [UInt8]?
        if let named = options.keySet {
            keySet = try await PublishedKeys.named(named.targetURL, named.sender)
        } else {
            keySet = await PublishedKeys.usual(targetURL, sender)
        }
        let issuer = try options.key.map { path in
            let known = try keySet.map { try JWKSet(parsing: $0, policy: .remote) }
            return try AttackSigner.issuer(keyFile: path, known: known)
        }
        /// The material of the attacks, with the published keys where there are any.
        func make(_ keySet: [UInt8]?) throws(MaterialError) -> AttackMaterial {
            try AttackMaterial(
                goodToken: good.token, keySet: keySet, issuer: issuer, now: SystemClock.milliseconds() / 1_000,
                canaryURL: canary?.url)
        }
        do throws(MaterialError) {
            return try make(keySet)
        } catch {
            switch error.code {
            case .tokenUnreadable:
                Terminal.notice(ErrorText.oneLine("\(error.description): attacks on JWTs are left out"))
                return nil
            case .keySetUnreadable where options.keySet == nil, .keyMissing where options.keySet == nil:
                Terminal.notice(
                    ErrorText.oneLine("\(error.description): attacks that need the public key are left out"))
                do { return try make(nil) } catch { throw CommandFailure(error.description, status: .misused) }
            default: throw CommandFailure(error.description, status: .misused)
            }
        }
    }
}
