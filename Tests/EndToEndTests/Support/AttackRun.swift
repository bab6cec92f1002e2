import Foundation

/// One run of `gatehouse attack`, and its report.
struct AttackRun {
    let status: Int32
    let output: String
    let errors: String
    let report: [String: Any]

    /// The verdicts by case.
    var verdicts: [String: String] {
        let cases = report["cases"] as? [[String: Any]] ?? []
        return Dictionary(cases.map { ($0["id"] as? String ?? "", $0["verdict"] as? String ?? "") }) { $1 }
    }

    /// The options that choose the cases which need no JWT.
    static let opaque = ["--only", "J02-opaque-*"]

    /// A profile of `target.py`, whose only path is `/`.
    static func profile(_ token: String, carrier: String = "subprotocol") -> String {
        "token: \(token)\npath: /\nsocket: {path: /, carriers: [\(carrier)], session: none}\n"
    }

    /// Attacks a target that behaves as it is told.
    static func on(
        _ mode: String, _ arguments: [String] = [], profile: String? = nil, token: Bool = true, scheme: String = "http",
        certificate: [String] = []
    ) throws -> AttackRun {
        let (process, output) = try Program.start("python3", [Program.script("target.py"), mode] + certificate)
        defer { process.terminate() }
        let port = try Program.line(output)
        return try at(
            "\(scheme)://127.0.0.1:\(port)", (token ? ["--token", "the-good-token"] : []) + arguments, profile)
    }

    /// Attacks a target.
    static func at(_ target: String, _ arguments: [String], _ profile: String? = nil) throws -> AttackRun {
        let place = try GatewayProcess.makeDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let report = place.appendingPathComponent("report.json")
        var all = ["attack", target, "--report", "json=\(report.path)", "--rate", "5000"] + arguments
        if let profile {
            let file = place.appendingPathComponent("profile.yaml")
            try profile.write(to: file, atomically: true, encoding: .utf8)
            all += ["--profile", file.path]
        }
        let result = try GatewayProcess.run(all, in: place, stateful: false)
        let object = try? JSONSerialization.jsonObject(with: Data(contentsOf: report)) as? [String: Any]
        return AttackRun(
            status: result.status, output: result.output, errors: result.errors, report: object ?? [:])
    }
}
