import Encodings

extension Report {
    /// The cases that failed or are inconclusive, as SARIF 2.1.0.
    public func sarif(target: String, version: String) -> JSONObject {
        let found = results.filter { $0.verdict == .failed || $0.verdict == .inconclusive }
        let driver: JSONObject = [
            "name": "gatehouse attack", "semanticVersion": .string(version),
            "rules": .array(results.map { .object(Self.rule($0.info)) }),
        ]
        let run: JSONObject = [
            "tool": ["driver": .object(driver)],
            "invocations": [["executionSuccessful": .bool(count(.inconclusive) == 0)]],
            "results": .array(found.map { .object(finding($0, target: target)) }),
            "properties": .object(properties),
        ]
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": .array([.object(run)]),
        ]
    }

    /// What the attacker had, and which cases could not be judged without more, with the reason.
    private var properties: JSONObject {
        var skipped = JSONObject()
        for result in results where result.verdict == .skipped { skipped[result.info.id] = .string(result.reason) }
        return ["powers": .array(powers.map { .string($0.rawValue) }), "skipped": .object(skipped)]
    }

    /// A case as a rule (SARIF section 3.49): every case is one, so that a reader sees what was tried and passed.
    private static func rule(_ info: CaseInfo) -> JSONObject {
        [
            "id": .string(info.id), "shortDescription": ["text": .string(info.title)],
            "fullDescription": ["text": .string("Expected: \(info.expected). \(info.reference)")],
            "properties": ["tags": .array([.string("security"), .string(info.group)])],
        ]
    }

    /// `level` is other than "none" for failures only (SARIF section 3.27.10).
    private func finding(_ result: CaseResult, target: String) -> JSONObject {
        let isFailure = result.verdict == .failed
        var object: JSONObject = [
            "ruleId": .string(result.info.id), "kind": .string(isFailure ? "fail" : "open"),
            "level": .string(isFailure ? "error" : "none"),
            "message": ["text": .string("\(result.info.title): \(result.reason)")],
            "locations": [["physicalLocation": ["artifactLocation": ["uri": .string(target)]]]],
        ]
        if let index = results.firstIndex(where: { $0.info.id == result.info.id }) {
            object["ruleIndex"] = .integer(Int64(index))
        }
        return object
    }
}
