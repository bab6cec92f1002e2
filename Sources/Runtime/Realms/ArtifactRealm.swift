import Encodings
import StateSurface

/// Versioned documents of a user: `draft` → `active` → `archived`, every change by compare-and-set.
struct ArtifactRealm: Realm {
    /// Bytes of a name.
    static let maximumNameLength = 128
    /// Bytes of the content as JSON without whitespace.
    static let maximumContentLength = 48 * 1_024
    /// Documents of one user. The count is checked before a new one is stored, so concurrent requests may exceed it.
    static let maximumCount = 1_000

    let intents = ["artifact.put", "artifact.get", "artifact.list", "artifact.transition"]
    let descriptions = [
        IntentDescription(
            name: "artifact.put",
            summary: "Stores a new version of a document of yours, as a draft. 'expected_version' 0 means: none yet.",
            ["name": ["type": "string"], "content": [:], "expected_version": ["type": "integer"]],
            required: ["name", "content"]),
        IntentDescription(
            name: "artifact.get", summary: "Reads a document of yours.", ["name": ["type": "string"]],
            required: ["name"]),
        IntentDescription(name: "artifact.list", summary: "Lists your documents."),
        IntentDescription(
            name: "artifact.transition", summary: "Makes a draft active, or an active document archived.",
            [
                "name": ["type": "string"], "to": ["type": "string", "enum": ["active", "archived"]],
                "expected_version": ["type": "integer"],
            ], required: ["name", "to"]),
    ]

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        do {
            switch intent.name {
            case "artifact.put": return try await put(intent.params, in: context)
            case "artifact.get": return try await get(intent.params, in: context)
            case "artifact.list": return try await list(in: context)
            case "artifact.transition": return try await transition(intent.params, in: context)
            default: return .notFound
            }
        } catch let refusal as Refusal {
            return refusal.outcome
        } catch {
            return .storeUnavailable
        }
    }

    // MARK: Intents

    private func put(_ params: JSONObject, in context: RealmContext) async throws -> RealmOutcome {
        let name = try Self.name(params)
        let expected = try Self.expectedVersion(params)
        guard let content = params["content"] else { throw Refusal(.invalid("content is missing.")) }
        let text = content.serialized()
        guard text.utf8.count <= Self.maximumContentLength else {
            throw Refusal(.failure(code: "payload_too_large", message: "content is longer than 48 KiB."))
        }
        try await requireRoom(for: name, in: context)
        let draft = ArtifactRecord(
            tenantID: context.tenantID, userID: context.userID, name: name, version: 0, state: .draft, content: text,
            updatedAt: context.clock())
        guard let stored = try await context.store.put(artifact: draft, expectedVersion: expected) else {
            throw Refusal.conflict
        }
        return .result(Self.summary(stored))
    }

    private func get(_ params: JSONObject, in context: RealmContext) async throws -> RealmOutcome {
        let record = try await newest(Self.name(params), in: context)
        guard case .object(var object) = Self.summary(record) else { return .notFound }
        object["content"] = (try? StrictJSON.parse(record.content, limits: Self.contentLimits)) ?? .null
        return .result(.object(object))
    }

    private func list(in context: RealmContext) async throws -> RealmOutcome {
        let records = try await context.store.artifacts(
            tenantID: context.tenantID, userID: context.userID, limit: Self.maximumCount)
        return .result(["artifacts": .array(records.map(Self.summary))])
    }

    private func transition(_ params: JSONObject, in context: RealmContext) async throws -> RealmOutcome {
        let name = try Self.name(params)
        let expected = try Self.expectedVersion(params)
        guard let target = params["to"]?.stringValue.flatMap(ArtifactRecord.State.init(rawValue:)) else {
            throw Refusal(.invalid("to must be \"active\" or \"archived\"."))
        }
        let newest = try await self.newest(name, in: context)
        if let expected, expected != newest.version { throw Refusal.conflict }
        guard newest.state.next == target else {
            throw Refusal(.invalid("An artifact goes from draft to active to archived, one step at a time."))
        }
        let moved = try await context.store.transition(
            tenantID: context.tenantID, userID: context.userID, name: name, version: newest.version,
            from: newest.state, to: target, at: context.clock())
        guard let moved else { throw Refusal.conflict }
        return .result(Self.summary(moved))
    }

    // MARK: Parts

    private func newest(_ name: String, in context: RealmContext) async throws -> ArtifactRecord {
        let record = try await context.store.artifact(tenantID: context.tenantID, userID: context.userID, name: name)
        guard let record else { throw Refusal(.notFound) }
        return record
    }

    private func requireRoom(for name: String, in context: RealmContext) async throws {
        let tenantID = context.tenantID
        let userID = context.userID
        guard try await context.store.artifact(tenantID: tenantID, userID: userID, name: name) == nil else { return }
        let all = try await context.store.artifacts(tenantID: tenantID, userID: userID, limit: Self.maximumCount)
        guard all.count < Self.maximumCount else {
            throw Refusal(.failure(code: "overloaded", message: "There are too many artifacts."))
        }
    }

    /// The limits for stored content, which has passed the agent's limits one level deeper.
    private static let contentLimits = JSONLimits()

    private static func name(_ params: JSONObject) throws -> String {
        guard let name = params["name"]?.stringValue, (1...self.maximumNameLength).contains(name.utf8.count),
            name.utf8.allSatisfy(isNameByte)
        else { throw Refusal(.invalid("name must be 1 to 128 of A-Z a-z 0-9 . _ - /")) }
        return name
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }

    private static func expectedVersion(_ params: JSONObject) throws -> Int64? {
        guard let value = params["expected_version"], !value.isNull else { return nil }
        guard let version = value.int64Value, version >= 0 else {
            throw Refusal(.invalid("expected_version must be a whole number, 0 for \"none yet\"."))
        }
        return version
    }

    private static func summary(_ record: ArtifactRecord) -> JSONValue {
        [
            "name": .string(record.name),
            "version": .number(JSONNumber(record.version)),
            "state": .string(record.state.rawValue),
            "updated_at": .string(Timestamp.text(record.updatedAt)),
        ]
    }
}

/// A refusal, thrown inside this file.
private struct Refusal: Error {
    let outcome: RealmOutcome

    init(_ outcome: RealmOutcome) {
        self.outcome = outcome
    }

    static let conflict = Refusal(
        .failure(code: "version_conflict", message: "The artifact has changed since that version."))
}

extension ArtifactRecord.State {
    /// The only state that can follow; nil for the last one.
    fileprivate var next: Self? {
        switch self {
        case .draft: .active
        case .active: .archived
        case .archived: nil
        }
    }
}
