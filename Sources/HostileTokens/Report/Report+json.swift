import Encodings

extension Report {
    /// The whole report as one JSON object.
    public var json: JSONObject {
        [
            "transport": .string(transport.rawValue), "signer": .string(signer.rawValue),
            "passed": .integer(Int64(count(.pass))), "failed": .integer(Int64(count(.fail))),
            "inconclusive": .integer(Int64(count(.inconclusive))), "skipped": .integer(Int64(skipped.count)),
            "results": .array(results.map { .object(Self.json($0)) } + skipped.map { .object(Self.json($0)) }),
        ]
    }

    private static func json(_ result: AttackResult) -> JSONObject {
        var object = json(result.attack)
        object["verdict"] = .string(result.verdict.rawValue)
        object["status"] = result.status.map { .integer(Int64($0)) } ?? .null
        object["detail"] = .string(result.detail)
        return object
    }

    private static func json(_ skipped: SkippedAttack) -> JSONObject {
        var object = json(skipped.attack)
        object["verdict"] = "skipped"
        object["status"] = .null
        object["detail"] = .string(skipped.reason)
        return object
    }

    private static func json(_ attack: Attack) -> JSONObject {
        [
            "id": .string(attack.id), "title": .string(attack.title), "category": .string(attack.category.rawValue),
            "mode": .string(attack.mode.rawValue), "reference": .string(attack.reference),
            "expected": .string(attack.expectation.text),
        ]
    }
}
