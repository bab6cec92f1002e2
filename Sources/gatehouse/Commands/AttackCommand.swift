import ArgumentParser
import Encodings
import Foundation
import Glibc
import HostileTokens
import JOSE

/// `gatehouse attack`: tries on a target what others have tried, and tells what it fell for.
struct AttackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attack", abstract: "Attacks a gateway's token checks and reports what it fell for.",
        discussion: """
            Sends hostile tokens to a path that wants a token, each between two requests with a good one. Exits with \
            the number of failures, at most 125; 2 also stands for wrong usage or a target that can't be judged. The \
            good token comes from --token, from GATEHOUSE_ATTACK_TOKEN, or from standard input. With --key, a \
            private key that the target trusts, rightly signed tokens with odd contents are sent as well.
            """)

    @Argument(help: .init("The target: http://HOST:PORT, perhaps with a path.", valueName: "url"))
    var url: String

    @Option(help: .init("A good token; - reads standard input.", valueName: "token"))
    var token: String?
    @Option(help: .init("The target's key set. Default: /.well-known/jwks.json there.", valueName: "url"))
    var jwks: String?
    @Option(help: .init("A private key that the target trusts: PEM, DER or JWK.", valueName: "file"))
    var key: String?
    @Option(help: .init("The path that wants a token. Default: the URL's, else /api/auth/me.", valueName: "path"))
    var path: String?
    @Option(help: .init("Only attacks of this category; may be repeated.", valueName: "name"))
    var category: [String] = []
    @Option(help: .init("How the tokens travel: \(Self.names(Transport.self)).", valueName: "name"))
    var transport = Transport.authorization.rawValue
    @Option(help: .init("The good token's session, for the websocket transports.", valueName: "id"))
    var session: String?
    @Flag(help: "Answer as one JSON object.")
    var json = false
    @Flag(help: "Show the attacks that were refused, too.")
    var all = false
    @Option(help: .init("Write the report as JUnit XML.", valueName: "file"))
    var junit: String?
    @Option(help: .init("Write the report as SARIF.", valueName: "file"))
    var sarif: String?
    @Option(help: .init("Requests per second, at most.", valueName: "n"))
    var rate = 100
    @Flag(name: .customLong("i-own-this-target"), help: "Allow a target that is not this machine.")
    var ownsTarget = false

    func validate() throws {
        guard (1...10_000).contains(rate) else { throw ValidationError("--rate must lie between 1 and 10000") }
        for name in category where AttackCategory(rawValue: name) == nil {
            throw ValidationError("--category \(name): there are \(Self.names(AttackCategory.self))")
        }
        guard let transport = Transport(rawValue: transport) else {
            throw ValidationError("--transport \(transport): there are \(Self.names(Transport.self))")
        }
        guard !transport.needsSession || session != nil else {
            throw ValidationError("--transport \(transport.rawValue) needs the good token's --session")
        }
    }

    func run() async throws {
        if transport == Transport.introspection.rawValue, Self.client == nil {
            throw CommandFailure(
                "--transport introspection asks as a client: put CLIENT_ID:CLIENT_SECRET into \(Self.clientVariable)",
                status: .misused)
        }
        let aim = try AttackAim(url, path: path)
        guard aim.isLoopback || ownsTarget else {
            throw CommandFailure(
                "\(aim.origin): not this machine: add --i-own-this-target if it is yours", status: .misused)
        }
        let report = try await attack(aim)
        try show(report, aim)
        let code = report.exitCode
        if code != 0 { throw ExitCode(code) }
        // Nothing failed; that means nothing where nothing could.
        if report.signer == .refused {
            throw CommandFailure(
                "the target refuses a good token signed with --key: give the key that it trusts", status: .misused)
        }
        guard !report.results.isEmpty else {
            throw CommandFailure("no attack could be made: see 'skipped' above", status: .misused)
        }
    }

    // MARK: Attacking

    private func attack(_ aim: AttackAim) async throws -> Report {
        let token = try GoodToken.read(token)
        let keySet = try await PublishedKeys.fetch(jwks, aim: aim, anywhere: ownsTarget)
        // A canary on this machine is of use only if the target is here, too.
        let canary = aim.isLoopback ? try await CanaryListener.open() : nil
        do {
            let material = try material(token, keySet, canary)
            let report = try await runner(aim, material, canary).run(
                AttackCatalogue.attacks(in: category.compactMap(AttackCategory.init)))
            await canary?.close()
            return report
        } catch {
            await canary?.close()
            switch error {
            case let error as MaterialError: throw CommandFailure(error.description, status: .misused)
            case let error as RunError:
                throw CommandFailure("\(aim.origin)\(aim.path): \(error.description)", status: .misused)
            default: throw error
            }
        }
    }

    private static let clientVariable = "GATEHOUSE_ATTACK_CLIENT"

    /// The id and secret of the client that asks for introspection.
    private static var client: String? {
        ProcessInfo.processInfo.environment[clientVariable].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func material(_ token: [UInt8], _ keySet: [UInt8]?, _ canary: CanaryListener?) throws -> AttackMaterial {
        let issuer = try key.map { path in
            let known = try keySet.map { try JWKSet(parsing: $0, policy: .remote) }
            return try AttackSigner.issuer(keyFile: path, known: known)
        }
        return try AttackMaterial(
            goodToken: token, keySet: keySet, issuer: issuer, now: SystemClock.milliseconds() / 1_000,
            canaryURL: canary?.url)
    }

    private func runner(_ aim: AttackAim, _ material: AttackMaterial, _ canary: CanaryListener?) -> Runner {
        let client = Self.client.map { "Basic " + Data($0.utf8).base64EncodedString() }
        let pacer = Pacer(perSecond: rate)
        let sender = RawSender(host: aim.host, port: aim.port, onlyLoopback: !ownsTarget)
        return Runner(
            target: Target(
                authority: aim.authority, path: aim.path, sessionID: session, clientAuthorization: client),
            transport: Transport(rawValue: transport) ?? .authorization, material: material,
            surroundings: .init(
                now: { SystemClock.milliseconds() / 1_000 }, pause: { try await pacer.wait() },
                canaryVisits: { canary?.visits ?? 0 })
        ) {
            try await sender.send($0)
        }
    }

    // MARK: Answers

    private func show(_ report: Report, _ aim: AttackAim) throws {
        if let junit { try Self.write(report.junit, to: junit) }
        if let sarif { try Self.write(report.sarif(target: aim.origin + aim.path).serialized() + "\n", to: sarif) }
        if json {
            Terminal.answer(TerminalJSON.text(.object(report.json)))
        } else {
            for line in report.text(all: all).split(separator: "\n") {
                Terminal.answer(TerminalText.escaped(String(line)))
            }
        }
    }

    private static func write(_ text: String, to path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CommandFailure("\(path): \(FileBytes.reason(errno))", status: .misused)
        }
        defer { close(descriptor) }
        Terminal.write(text, to: descriptor)
    }

    private static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> String where T.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: " ")
    }
}
