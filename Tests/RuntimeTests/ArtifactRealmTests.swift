import Encodings
import StateSurface
import StateSurfaceTesting
import Testing

@testable import Runtime

@Suite struct ArtifactRealmTests {
    let store = MemoryStore()

    private func perform(
        _ name: String, _ params: JSONObject = [:], user: String = "usr_a", tenant: String = "t"
    ) async -> RealmOutcome {
        let context = RealmContext(
            tenantID: tenant, userID: user, sessionID: "ses_x", store: store, uses: SessionUses(), clock: { 0 })
        return await ArtifactRealm().perform(Intent(id: "a", name: "artifact.\(name)", params: params), in: context)
    }

    private func code(_ outcome: RealmOutcome) -> String? {
        guard case .failure(let code, _) = outcome else { return nil }
        return code
    }

    private func data(_ outcome: RealmOutcome) -> JSONObject? {
        guard case .result(let data) = outcome else { return nil }
        return data.objectValue
    }

    @Test("An artifact goes from draft to active to archived, and a new version is a draft again")
    func life() async {
        let put = data(await perform("put", ["name": "a", "content": ["x": 1], "expected_version": 0]))
        #expect(put?["version"] == 1 && put?["state"] == "draft")
        for (target, version) in [("active", 1), ("archived", 1)] as [(String, Int64)] {
            let params: JSONObject = [
                "name": "a", "to": .string(target), "expected_version": .number(JSONNumber(version)),
            ]
            let moved = data(await perform("transition", params))
            #expect(moved?["state"] == .string(target) && moved?["version"] == 1)
        }
        let next = data(await perform("put", ["name": "a", "content": "two", "expected_version": 1]))
        #expect(next?["version"] == 2 && next?["state"] == "draft")
        #expect(data(await perform("get", ["name": "a"]))?["content"] == "two")
    }

    @Test(
        "No step is skipped and none is taken back",
        arguments: ["draft", "archived", "deleted", "", "ACTIVE"])
    func wrongSteps(target: String) async {
        _ = await perform("put", ["name": "a", "content": 1])
        let outcome = await perform("transition", ["name": "a", "to": .string(target)])
        #expect(code(outcome) == "invalid_request")
        #expect(data(await perform("get", ["name": "a"]))?["state"] == "draft")
    }

    @Test("An action on an old version is refused with that reason, and changes nothing")
    func compareAndSet() async {
        _ = await perform("put", ["name": "a", "content": 1, "expected_version": 0])
        let stale = await perform("put", ["name": "a", "content": 2, "expected_version": 0])
        #expect(code(stale) == "version_conflict")
        let ahead = await perform("put", ["name": "b", "content": 2, "expected_version": 1])
        #expect(code(ahead) == "version_conflict")
        let moved = await perform("transition", ["name": "a", "to": "active", "expected_version": 2])
        #expect(code(moved) == "version_conflict")
        #expect(data(await perform("get", ["name": "a"]))?["content"] == 1)
    }

    @Test("Of many who put a first version at once, one does")
    func race() async {
        let winners = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let content = JSONValue.number(JSONNumber(Int64(index)))
                    return data(
                        await perform("put", ["name": "a", "content": content, "expected_version": 0])) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
    }

    @Test("Another user's artifact is answered like one that does not exist")
    func foreign() async {
        _ = await perform("put", ["name": "a", "content": 1])
        for (user, tenant) in [("usr_b", "t"), ("usr_a", "u")] {
            for name in ["get", "transition"] {
                let params: JSONObject = ["name": "a", "to": "active"]
                let foreign = await perform(name, params, user: user, tenant: tenant)
                let unknown = await perform(name, ["name": "unknown", "to": "active"])
                #expect(foreign == unknown && code(foreign) == "not_found")
            }
            #expect(data(await perform("list", user: user, tenant: tenant)) == ["artifacts": []])
        }
        #expect(data(await perform("list"))?["artifacts"]?.arrayValue?.count == 1)
    }

    @Test(
        "Names are short and plain",
        arguments: ["", " ", "a b", "a\u{0}", "é", "a\n", String(repeating: "a", count: 129)])
    func badNames(name: String) async {
        #expect(code(await perform("put", ["name": .string(name), "content": 1])) == "invalid_request")
    }

    @Test("Odd members are refused")
    func oddMembers() async throws {
        let bad: [JSONObject] = [
            [:], ["name": 1, "content": 1], ["name": "a"], ["name": "a", "content": 1, "expected_version": "0"],
            ["name": "a", "content": 1, "expected_version": -1], ["name": "a", "content": 1, "expected_version": 0.5],
        ]
        for params in bad { #expect(code(await perform("put", params)) == "invalid_request") }
        let long = JSONValue.string(String(repeating: "x", count: 48 * 1_024))
        #expect(code(await perform("put", ["name": "a", "content": long])) == "payload_too_large")
        #expect(try await store.artifacts(tenantID: "t", userID: "usr_a", limit: 1).isEmpty)
    }

    @Test("There is room for so many, and new versions of old ones always fit")
    func bounded() async throws {
        for index in 0..<ArtifactRealm.maximumCount {
            let artifact = ArtifactRecord(
                tenantID: "t", userID: "usr_a", name: "\(index)", version: 1, state: .draft, content: "1", updatedAt: 0)
            #expect(try await store.put(artifact: artifact, expectedVersion: 0) != nil)
        }
        #expect(code(await perform("put", ["name": "new", "content": 1])) == "overloaded")
        #expect(data(await perform("put", ["name": "0", "content": 1]))?["version"] == 2)
    }

    @Test("A store that is away is said to be")
    func storeAway() async {
        store.set(reachable: false)
        #expect(code(await perform("list")) == "store_unavailable")
    }
}
