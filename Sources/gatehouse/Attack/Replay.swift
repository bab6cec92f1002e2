import Encodings
import HostileTokens
import JOSE

/// The requests of an earlier report, which are sent again byte for byte.
struct Replay {
    /// The largest report that is read, in bytes: a report has each request and answer of each case.
    private static let limit = 512 << 20

    /// A case as the report has it: what was sent, and the verdict of then.
    struct Recorded {
        /// As the report words it, which may be of an older catalogue.
        let info: CaseInfo
        let verdict: Verdict
        /// What was sent and answered, in order, of which the requests are sent again; never empty.
        let exchanges: [Exchange]
    }

    /// The selected cases of the report, in its order; one at least.
    let cases: [Recorded]
    /// A request with the valid token of the report. If it is answered with another status now, nothing can be
    /// concluded. Nil in a report without one.
    private let control: Exchange?
    /// By which answers are judged. The requests themselves are sent as they were.
    private let transport: Transport

    /// Reads a report. Throws where it is none, or has none of the selected cases.
    init(file path: String, _ selection: CaseSelection) throws {
        guard let bytes = try FileBytes.read(path, limit: Self.limit) else {
            throw CommandFailure(
                "\(path): no such file: name a report written with --report json=FILE", status: .misused)
        }
        let limits = JSONLimits(
            maxBytes: Self.limit, maxMembers: 1 << 16, maxValues: 1 << 20, maxStringBytes: 1 << 24)
        guard case .success(let object) = Result(catching: { try StrictJSON.object(bytes, limits: limits) }),
            let recorded = object["cases"]?.arrayValue
        else {
            throw CommandFailure(
                "\(path): no report of 'attack': name one written with --report json=FILE", status: .misused)
        }
        transport = object["transport"]?.stringValue.flatMap { Transport(rawValue: $0) } ?? .authorization
        control = object["controls"]?.objectValue?["evidence"]?.arrayValue?.first?.objectValue.flatMap {
            Exchange(json: $0)
        }
        cases = recorded.compactMap { $0.objectValue.flatMap(Self.recorded) }.filter { recorded in
            !recorded.exchanges.isEmpty && selection.selects(recorded.info)
        }
        guard !cases.isEmpty else {
            throw CommandFailure(
                "\(path): no case with evidence is selected: see --only, --skip and --category", status: .misused)
        }
    }

    /// A case as a report has it; nil where its id or verdict is missing.
    private static func recorded(_ object: JSONObject) -> Recorded? {
        guard let id = object["id"]?.stringValue, let verdict = object["verdict"]?.stringValue.flatMap(Verdict.init)
        else { return nil }
        func text(_ name: String) -> String { object[name]?.stringValue ?? "" }
        let info = CaseInfo(
            id: id, title: text("title"), reference: text("reference"), expected: text("expected"),
            group: text("group"), needs: [])
        let exchanges = object["evidence"]?.arrayValue?.compactMap { $0.objectValue.flatMap { Exchange(json: $0) } }
        return Recorded(info: info, verdict: verdict, exchanges: exchanges ?? [])
    }

    /// Sends all requests again. A case is inconclusive if a recorded control is refused, or if a conversation takes
    /// another course than the recorded one.
    func run(over wire: Wire, target: Target, pause: @Sendable () async throws -> Void) async throws -> Report {
        var report = Report(transport: transport, signer: .none)
        for recorded in cases {
            if let fault = try await controlFault(wire, target, pause) {
                report.results.append(CaseResult(info: recorded.info, verdict: .inconclusive, reason: fault))
                continue
            }
            var again: [Exchange] = []
            for exchange in recorded.exchanges {
                try await pause()
                again.append(try await Self.send(exchange, wire))
            }
            report.results.append(judge(recorded, again, target))
        }
        return report
    }

    /// Compares the answers with what the case expects.
    private func judge(_ recorded: Recorded, _ again: [Exchange], _ target: Target) -> CaseResult {
        func result(_ verdict: Verdict, _ reason: String) -> CaseResult {
            CaseResult(
                info: recorded.info, verdict: verdict, status: again.last?.status, reason: reason, evidence: again)
        }
        guard let last = again.last else { return result(.skipped, "nothing was recorded") }
        guard let status = last.status else { return result(.inconclusive, last.note ?? "no answer") }
        if case .token(let attack) = CaseCatalogue.named(recorded.info.id) {
            let response = RawResponse(parsing: last.received) ?? RawResponse(status: status)
            let accepted = transport.isAccepted(response, by: target)
            return accepted == attack.expectation.isAccepted
                ? result(.passed, "answered \(status)") : result(.failed, "answered \(status)")
        }
        func grantsAccess(_ status: Int?) -> Bool { status == 101 || status.map { target.isSuccess($0) } ?? false }
        if zip(recorded.exchanges, again).allSatisfy({ $0.status == $1.status }) {
            return result(recorded.verdict, "every answer has the recorded status, \(status) at the end")
        }
        // The same answers up to the last one, which is a refusal now: the finding has been fixed.
        let sameStart = zip(recorded.exchanges.dropLast(), again.dropLast()).allSatisfy { $0.status == $1.status }
        return recorded.verdict == .failed && sameStart && grantsAccess(recorded.exchanges.last?.status)
            && !grantsAccess(status)
            ? result(.passed, "answered \(status), which was let in when it was recorded")
            : result(.inconclusive, "the answers have other statuses than the recorded ones, \(status) at the end")
    }

    /// Why nothing can be concluded: the good token of the report is answered in another way now. Nil if it is not, or
    /// none was recorded.
    private func controlFault(
        _ wire: Wire, _ target: Target, _ pause: @Sendable () async throws -> Void
    ) async throws -> String? {
        guard let control else { return nil }
        try await pause()
        let again = try await Self.send(control, wire)
        guard let status = again.status else { return "the target does not answer: \(again.note ?? "")" }
        return status == control.status ? nil : "the recorded good token gets \(status) now: record a new report"
    }

    /// Sends what was recorded, and records the answer, or why there is none.
    private static func send(_ exchange: Exchange, _ wire: Wire) async throws -> Exchange {
        do {
            let response = try await wire.send(RawRequest(bytes: exchange.sent))
            return Exchange(
                label: exchange.label, sent: exchange.sent, received: response.bytes, status: response.status)
        } catch let failure as SendFailure {
            return Exchange(
                label: exchange.label, sent: exchange.sent, received: [], status: nil, note: failure.description)
        }
    }
}
