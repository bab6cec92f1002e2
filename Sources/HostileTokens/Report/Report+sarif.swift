import Encodings

extension Report {
    /// What did not pass, as SARIF 2.1.0.
    public func sarif(target: String) -> JSONObject {
        let found = results.filter { $0.verdict != .pass }
        let driver: JSONObject = [
            "name": "gatehouse attack", "rules": .array(found.map { .object(Self.rule($0.attack)) }),
        ]
        let run: JSONObject = [
            "tool": ["driver": .object(driver)],
            "results": .array(found.map { .object(Self.finding($0, target: target)) }),
        ]
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": .array([.object(run)]),
        ]
    }

    private static func rule(_ attack: Attack) -> JSONObject {
        [
            "id": .string(attack.id), "shortDescription": ["text": .string(attack.title)],
            "fullDescription": ["text": .string("Expected: \(attack.expectation.text). \(attack.reference)")],
            "properties": [
                "tags": .array([.string("security"), .string(attack.category.rawValue), .string(attack.mode.rawValue)])
            ],
        ]
    }

    private static func finding(_ result: AttackResult, target: String) -> JSONObject {
        [
            "ruleId": .string(result.attack.id), "level": .string(result.verdict == .fail ? "error" : "note"),
            "kind": .string(result.verdict == .fail ? "fail" : "open"),
            "message": ["text": .string("\(result.attack.title): \(result.detail)")],
            "locations": [["physicalLocation": ["artifactLocation": ["uri": .string(target)]]]],
        ]
    }
}
