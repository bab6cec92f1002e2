import DocumentationForTests
import Runtime
import Synchronization
import Testing

// snippet
/// Notes of users, in memory: `notes.add` and `notes.count`.
final class NotesRealm: Realm {
    let intents = ["notes.add", "notes.count"]

    private struct Owner: Hashable {
        let tenantID: String
        let userID: String
    }

    private let notes = Mutex<[Owner: [String]]>([:])

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        // The only owner there is: a client can't name another.
        let owner = Owner(tenantID: context.tenantID, userID: context.userID)
        switch intent.name {
        case "notes.add":
            // The client wrote the parameters: they are JSON, and nothing more is known of them.
            guard let text = intent.params["text"]?.stringValue, (1...200).contains(text.utf8.count) else {
                return .invalid("text must have 1 to 200 bytes.")
            }
            let isKept = notes.withLock { notes -> Bool in
                guard notes[owner, default: []].count < 100 else { return false }
                notes[owner, default: []].append(text)
                return true
            }
            return isKept ? .result(["kept": true]) : .failure(code: "full", message: "There are too many notes.")
        case "notes.count":
            return .result(["count": .integer(Int64(notes.withLock { $0[owner]?.count ?? 0 }))])
        default: return .notFound
        }
    }
}
// end

/// The article of `Runtime`, run as an adopter would.
@Suite("Article: writing a realm") struct WritingARealmTests {
    @Test("What the article shows keeps notes of one owner apart from those of another")
    func works() async {
        let realm = NotesRealm()
        let (ada, eve) = (RealmContext(tenantID: "a", userID: "ada"), RealmContext(tenantID: "a", userID: "eve"))
        let add = Intent(id: "1", name: "notes.add", params: ["text": "tea"])
        let count = Intent(id: "2", name: "notes.count")
        #expect(await realm.perform(add, in: ada) == .result(["kept": true]))
        #expect(await realm.perform(count, in: ada) == .result(["count": 1]))
        #expect(await realm.perform(count, in: eve) == .result(["count": 0]))
        let bad = Intent(id: "3", name: "notes.add", params: ["text": 7])
        #expect(await realm.perform(bad, in: ada) == .invalid("text must have 1 to 200 bytes."))
    }

    @Test("The article shows exactly what is run here")
    func page() throws {
        let shown = try DocumentedCode.shown(in: "Sources/Runtime/Runtime.docc/WritingARealm.md")
        #expect(try !shown.isEmpty && shown == DocumentedCode.run(in: #filePath))
    }
}
