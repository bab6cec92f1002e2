import ArgumentParser
import Encodings
import JOSE

/// `gatehouse doctor`: looks at a deployment, and says what is wrong with it. Exits with status 1 if a finding is
/// `wrong`, and with 2 if the configuration can't be used.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Checks a deployment, and prints what is wrong and which line to change.",
        discussion: """
            Checks files, keys, the store, clocks, the running gateway, certificates, and every server that the \
            configuration names, from this machine and as this user: run it as the gateway's. It changes nothing. \
            Exits 0 when nothing is wrong, 1 when something is, 2 when the configuration can't be used.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: .init("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var state: String?
    @Option(help: .init("The directory of the signing keys.", valueName: "dir"))
    var keys: String?
    @Option(help: .init("The running gateway's admin listener, or 'off'.", valueName: "host:port"))
    var admin: String?
    @Flag(help: "Answer as one JSON object.")
    var json = false

    func run() async throws {
        let report: DoctorReport
        do throws(ConfigurationFaults) {
            let source = ConfigurationSource(file: options.file, flags: flags)
            let loaded = try source.load()
            let facts = await DoctorSurvey(loaded: loaded).facts()
            report = DoctorReport(findings: DoctorJudgement(loaded: loaded, facts: facts).findings) {
                loaded.place(of: $0)
            }
        } catch {
            show(error)
            throw ExitCode(CommandFailure.Status.misused.rawValue)
        }
        if json {
            Terminal.answer(TerminalJSON.text(report.json))
        } else {
            for line in report.lines { Terminal.answer(line) }
        }
        if report.hasFaults { throw ExitCode(CommandFailure.Status.failed.rawValue) }
    }

    /// The faults of the configuration, one line each, as `config check` shows them; with `--json` as findings.
    private func show(_ error: ConfigurationFaults) {
        for fault in error.faults { Terminal.notice("\(fault)") }
        guard json else { return }
        let findings = error.faults.map {
            DoctorFinding(level: .wrong, check: "config", key: $0.key, message: $0.message)
        }
        let places = error.faults.map { ($0.key, $0.place) }
        let report = DoctorReport(findings: findings) { key in places.first { $0.0 == key }?.1 ?? "configuration" }
        Terminal.answer(TerminalJSON.text(report.json))
    }

    /// The flags that set keys of the configuration, so that they take precedence over file and environment.
    private var flags: [ConfigurationFlag] {
        [("--state", "state.url", state), ("--keys", "keys.directory", keys), ("--admin", "server.admin", admin)]
            .compactMap { name, key, value in value.map { ConfigurationFlag(name: name, key: key, value: $0) } }
    }
}
