import Runtime
import Testing

/// What an adopter's package can write, with nothing but what is public.
@Suite struct RealmTests {
    private struct GreetingRealm: Realm {
        let intents = ["greet"]

        func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
            guard let name = intent.params["name"]?.stringValue else { return .invalid("name is missing.") }
            return .result(["greeting": .string("\(name), from \(context.userID) of \(context.tenantID)")])
        }
    }

    private let context = RealmContext(tenantID: "acme", userID: "usr_a")

    @Test("A realm can be tried without a gateway")
    func alone() async {
        let realm = GreetingRealm()
        let good = await realm.perform(Intent(id: "1", name: "greet", params: ["name": "Ada"]), in: context)
        #expect(good == .result(["greeting": "Ada, from usr_a of acme"]))
        let bad = await realm.perform(Intent(id: "2", name: "greet"), in: context)
        #expect(bad == .invalid("name is missing."))
    }

    @Test("A context without a store lets built-in realms fail, not crash", arguments: Runtime.builtInRealms.indices)
    func withoutStore(index: Int) async {
        let realm = Runtime.builtInRealms[index]
        for name in realm.intents {
            let outcome = await realm.perform(
                Intent(id: "1", name: name, params: ["name": "a", "content": 1, "to": "active"]), in: context)
            if name == "echo" {
                #expect(outcome == .result(["name": "a", "content": 1, "to": "active"]))
            } else {
                #expect(outcome == .storeUnavailable)
            }
        }
    }
}
