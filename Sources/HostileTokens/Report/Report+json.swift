import Encodings

extension Report {
    /// The report as one JSON object. It contains the bytes that were sent, including tokens.
    public func json(target: String) -> JSONObject {
        var controls: JSONObject = [
            "made": .integer(Int64(self.controls.made)), "lost": .integer(Int64(self.controls.lost)),
        ]
        if let example = self.controls.example { controls["evidence"] = .array([.object(example.json)]) }
        return [
            "target": .string(target), "transport": .string(transport.rawValue),
            "powers": .array(powers.map { .string($0.rawValue) }), "signer": .string(signer.rawValue),
            "summary": [
                "passed": .integer(Int64(count(.passed))), "failed": .integer(Int64(count(.failed))),
                "inconclusive": .integer(Int64(count(.inconclusive))), "skipped": .integer(Int64(count(.skipped))),
            ],
            "cases": .array(results.map { .object(Self.json($0)) }), "controls": .object(controls),
        ]
    }

    /// One result with the exchanges that led to it.
    private static func json(_ result: CaseResult) -> JSONObject {
        var object = result.info.json
        object["verdict"] = .string(result.verdict.rawValue)
        object["reason"] = .string(result.reason)
        object["status"] = result.status.map { .integer(Int64($0)) } ?? .null
        object["evidence"] = .array(result.evidence.map { .object($0.json) })
        return object
    }
}

extension CaseInfo {
    /// The case as an entry of a listing.
    public var json: JSONObject {
        [
            "id": .string(id), "family": .string(family), "group": .string(group), "title": .string(title),
            "reference": .string(reference), "expected": .string(expected),
            "needs": .array(needs.map { .string($0.rawValue) }),
        ]
    }
}

extension Exchange {
    /// The exchange as JSON. `sent` and `received` are text, or `sent_base64url` and `received_base64url` if they are
    /// not UTF-8.
    public var json: JSONObject {
        var object: JSONObject = ["label": .string(label), "status": status.map { .integer(Int64($0)) } ?? .null]
        Self.set("sent", sent, in: &object)
        Self.set("received", received, in: &object)
        if let note { object["note"] = .string(note) }
        return object
    }

    /// Reads an exchange written by ``json``; nil for anything else.
    public init?(json: JSONObject) {
        guard let label = json["label"]?.stringValue, let sent = Self.bytes("sent", of: json) else { return nil }
        self.init(
            label: label, sent: sent, received: Self.bytes("received", of: json) ?? [],
            status: json["status"]?.int64Value.flatMap { Int(exactly: $0) }, note: json["note"]?.stringValue)
    }

    /// Writes bytes as text where they are UTF-8, else in base64url under a longer name.
    private static func set(_ name: String, _ bytes: [UInt8], in object: inout JSONObject) {
        if let text = String(validating: bytes, as: UTF8.self) {
            object[name] = .string(text)
        } else {
            object[name + "_base64url"] = .string(Base64URL.encode(bytes))
        }
    }

    /// Reads bytes that were written by `set`; nil where there are none.
    private static func bytes(_ name: String, of object: JSONObject) -> [UInt8]? {
        if let text = object[name]?.stringValue { return Array(text.utf8) }
        return object[name + "_base64url"]?.stringValue.flatMap { Base64URL.decode($0) }
    }
}
