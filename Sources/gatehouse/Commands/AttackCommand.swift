import ArgumentParser
import Encodings
import HostileTokens
import JOSE

/// `gatehouse attack`: runs the attack suite on a target and reports which attacks succeeded.
struct AttackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attack", abstract: "Attacks a gateway and reports which attacks succeeded.",
        discussion: """
            Sends hostile tokens and requests to a path that requires a token, each between two requests with a good one. \
            Exits 1 if anything failed; else 2 if anything stayed open, nothing could be judged or the usage was wrong; \
            else 0. A profile says how the target's tokens travel, who can sign in and what is promised beyond the \
            checks of a token. Without one, the good token comes from --token, from GATEHOUSE_ATTACK_TOKEN, \
            from the file that GATEHOUSE_ATTACK_TOKEN_FILE names, or from standard input. With --key, a private key \
            that the target trusts, rightly signed tokens with odd contents are sent as well.
            """)

    @Argument(help: .init("The target: http[s]://HOST:PORT, perhaps with a path.", valueName: "url"))
    var url: String?
    @Option(help: .init("The profile of the target: YAML.", valueName: "file"))
    var profile: String?
    @Option(help: .init("A good token; - reads standard input.", valueName: "token"))
    var token: String?
    @Option(help: .init("The target's key set. Default: /.well-known/jwks.json there.", valueName: "url"))
    var jwks: String?
    @Option(help: .init("A private key that the target trusts: PEM, DER or JWK.", valueName: "file"))
    var key: String?
    @Option(help: .init("The path that requires a token. Default: the URL's, else the profile's, else /api/auth/me."))
    var path: String?
    @Option(help: .init("How the tokens are sent: \(Self.names(Transport.self)).", valueName: "name"))
    var transport: String?
    @Option(help: .init("The good token's session, for sockets.", valueName: "id"))
    var session: String?
    @OptionGroup var selection: CaseSelection
    @OptionGroup var tls: AttackTLS
    @Flag(
        name: .customLong("http2"),
        help: "Speak HTTP/2: cases about it are tried, those that need a connection of their own left out.")
    var usesHTTP2 = false
    @Flag(help: "Refusals must have the status that the standards name, and what is a matter of policy is judged.")
    var strict = false
    @Flag(help: "Answer as one JSON object. It holds the good token.")
    var json = false
    @Flag(help: "Show the cases that passed, too.")
    var all = false
    @Option(help: .init("Write the report: json=FILE, junit=FILE or sarif=FILE; may be repeated.", valueName: "what"))
    var report: [String] = []
    @Option(help: .init("Send the requests of a JSON report again.", valueName: "file"))
    var replay: String?
    @Option(help: .init("Requests per second, at most.", valueName: "n"))
    var rate = 200
    @Option(help: .init("How long to wait for the end of an answer, in seconds.", valueName: "s"))
    var timeout = 10
    @Flag(name: .customLong("i-own-this-target"), help: "Allow a target that is not this machine.")
    var ownsTarget = false

    /// Refuses values out of range and unknown words as wrong usage, before a target is connected to.
    func validate() throws {
        try selection.validate(isListing: url == nil)
        guard (1...10_000).contains(rate) else { throw ValidationError("--rate must lie between 1 and 10000") }
        guard (1...60).contains(timeout) else { throw ValidationError("--timeout must lie between 1 and 60") }
        if let transport, Transport(rawValue: transport) == nil {
            throw ValidationError("--transport \(transport): there are \(Self.names(Transport.self))")
        }
        for text in report where ReportFile(text) == nil {
            throw ValidationError("--report \(text): write json=FILE, junit=FILE or sarif=FILE")
        }
        guard url != nil || selection.isListing else {
            throw ValidationError("no target: write http://HOST:PORT, or --list")
        }
    }

    /// Lists cases, replays a report, or runs the selected cases. The status is that of ``show(_:_:_:)``.
    func run() async throws {
        if selection.isListing {
            try selection.show(asJSON: json)
            return
        }
        let targetURL = try TargetURL(url ?? "", path: path)
        let sender = try sender(to: targetURL, isHTTP2: usesHTTP2)
        let keySet = try jwks.map { text in
            let targetURL = try TargetURL(text, path: nil)
            return (targetURL: targetURL, sender: try self.sender(to: targetURL, isHTTP2: false))
        }
        let profile = try self.profile.map { try ProfileReader.read($0) } ?? .usual
        let files = report.compactMap(ReportFile.init)
        for file in files { try file.check() }
        let runner = AttackRunner(
            targetURL: targetURL, profile: profile, sender: sender, options: try options(profile, keySet))
        let found: Report
        if let replay {
            let recorded = try Replay(file: replay, selection)
            found = try await runner.run(recorded)
        } else {
            found = try await runner.run(try selection.cases())
        }
        try show(found, files, runner.place)
    }

    /// What sends to a host. Whether it may be attacked is decided here, before anything is sent.
    private func sender(to targetURL: TargetURL, isHTTP2: Bool) throws -> RawSender {
        let endpoint = try Endpoint(host: targetURL.host, port: targetURL.port, anywhere: ownsTarget)
        let tls = targetURL.isSecure ? try tls.context(isHTTP2: isHTTP2) : nil
        return RawSender(
            connector: Connector(endpoint: endpoint, tls: tls), usesHTTP2: isHTTP2, timeout: .seconds(timeout))
    }

    /// The options of the run: `--transport` takes precedence over the profile's carrier.
    private func options(
        _ profile: AttackProfile, _ keySet: (targetURL: TargetURL, sender: RawSender)?
    ) throws -> AttackRunner.Options {
        var environmentToken: [UInt8]?
        if token == nil { environmentToken = try GoodToken.fromEnvironment() }
        return AttackRunner.Options(
            transport: transport.flatMap { Transport(rawValue: $0) } ?? profile.carrier, token: token,
            environmentToken: environmentToken, client: try AttackRunner.clientVariable.value(),
            hasProfile: self.profile != nil, keySet: keySet, key: key, session: session, rate: rate, isStrict: strict)
    }

    // MARK: Output

    /// Prints the report and writes its files, then throws what decides the exit status: 1 if a case failed; else 2 if
    /// any was inconclusive or nothing could be judged, or if the target refuses tokens signed with `--key`; nothing
    /// for 0.
    private func show(_ report: Report, _ files: [ReportFile], _ place: String) throws {
        if json {
            Terminal.answer(TerminalJSON.text(.object(report.json(target: place))))
        } else {
            for line in report.text(all: all).split(separator: "\n") {
                Terminal.answer(TerminalText.escaped(String(line)))
            }
        }
        let code = report.exitCode
        do throws(CommandFailure) {
            for file in files { try file.write(report, target: place) }
        } catch {
            // Cases that failed decide the exit status, and not a file that can't be written.
            guard code == 1 else { throw error }
            Terminal.notice(ErrorText.oneLine("gatehouse: \(error.description)"))
        }
        if code != 0 { throw ExitCode(code) }
        // No case failed, but that means little if the signed attacks could not be run.
        if report.signer == .refused {
            throw CommandFailure(
                "the target refuses a good token signed with --key: give the key that it trusts", status: .misused)
        }
    }

    /// The raw values of an enumeration, for help and messages.
    private static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> String where T.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: " ")
    }
}
