import RandomForTests
import StateSurface
import Testing

@testable import Runtime

@Suite struct SessionTableTests {
    @Test("A slot is two cache lines, and begins where one begins")
    func layout() {
        #expect(MemoryLayout<SessionSlot>.stride == 128)
        #expect(MemoryLayout<SessionSlot>.offset(of: \.user) == 64)
        for (count, alignment) in [(8, 128), (1_024, 128), (16_384, 2 << 20)] {
            let block = SlotBlock(count: count)
            #expect(Int(bitPattern: block.slots) % alignment == 0)
            #expect((0..<count).allSatisfy { block.isEmpty($0) })
        }
    }

    @Test("After any operations, it holds what a dictionary would", arguments: [true, false])
    func model(isColliding: Bool) {
        let seed = isColliding ? Sample.colliding : NameSeed()
        var table = SessionTable(capacity: 10_000, seed: seed)
        var model: [String: Known] = [:]
        var born: [Watched] = []
        var dice = SeededGenerator(seed: isColliding ? 1 : 2)
        for step in 0..<20_000 {
            // In the one case all in one run, in the other all kinds of lengths.
            let number = Int.random(in: 0..<200, using: &dice)
            let id = isColliding ? Sample.id(number) : Sample.anyLength(number)
            let key = SessionKey(id, seed: seed)
            switch Int.random(in: 0..<12, using: &dice) {
            case 0..<4:
                let entry = SessionView.Entry(Sample.record(id, epoch: Int64(step)))
                born.append(Watched(facts: entry.facts))
                let old = table.insert(entry, as: key)
                let known = model.updateValue(Known(epoch: Int64(step), lastSeenAt: 0), forKey: id)
                #expect(old?.epoch == known?.epoch)
            case 4..<7:
                let old = table.remove(key)
                #expect(old?.epoch == model.removeValue(forKey: id)?.epoch)
            case 7:
                let isNews = table.touch(key, at: Int64(step), resolution: 5_000)
                let last = model[id]?.lastSeenAt
                #expect(isNews == (last.map { Int64(step) - $0 >= 5_000 } ?? true))
                if isNews { model[id]?.lastSeenAt = Int64(step) }
            case 8 where step % 500 == 0:
                _ = table.removeAll()
                model = [:]
            default:
                let slot = table.use(key)
                let facts = slot?.facts?.takeUnretainedValue()
                #expect(facts?.epoch == model[id]?.epoch)
                #expect(slot?.times.lastSeenAt == model[id]?.lastSeenAt)
            }
            #expect(table.count == model.count)
        }
        #expect(born.filter(\.isAlive).count == model.count)
        _ = table.removeAll()
        #expect(!born.contains { $0.isAlive })
    }

    @Test("A thousand ids that lie in one run are told apart, also when the first of them goes first")
    func oneRun() {
        #expect(Set((0..<1_000).map { PackedName(Sample.id($0)).hash(Sample.colliding) }).count == 1)
        var table = SessionTable(capacity: 2_000, seed: Sample.colliding)
        for number in 0..<1_000 { Sample.insert(number, into: &table, seed: Sample.colliding) }
        for number in 0..<1_000 {
            let removed = table.remove(Sample.key(number, seed: Sample.colliding))
            #expect(removed?.id == Sample.id(number))
            let next = table.use(Sample.key(number + 1, seed: Sample.colliding))
            #expect((next == nil) == (number == 999))
        }
        #expect(table.count == 0)
    }

    @Test("It begins small and grows to what is needed; what was there stays")
    func growth() {
        var table = SessionTable(capacity: 100_000, seed: Sample.seed)
        #expect(table.room == 8)
        for number in 0..<20_000 { Sample.insert(number, into: &table, seed: Sample.seed) }
        #expect(table.count == 20_000)
        #expect(table.room == 32_768)
        var missing = 0
        for number in 0..<20_000 {
            let slot = table.use(Sample.key(number, seed: Sample.seed))
            if slot?.facts?.takeUnretainedValue().id != Sample.id(number) { missing += 1 }
        }
        #expect(missing == 0)
        let unknown = table.use(Sample.key(20_000, seed: Sample.seed))
        #expect(unknown == nil)
    }

    @Test("There are never more than there is room for, and the last one is always there", arguments: [1, 2, 3, 5, 64])
    func capacity(_ capacity: Int) {
        var table = SessionTable(capacity: capacity, seed: Sample.seed)
        var born: [Watched] = []
        for number in 0..<2_000 {
            born.append(Sample.insert(number, into: &table, seed: Sample.seed))
            let last = table.use(Sample.key(number, seed: Sample.seed))
            #expect(last != nil && table.count == min(number + 1, capacity))
        }
        #expect(born.filter(\.isAlive).count == capacity)
    }

    @Test("What is asked for stays, however many others come and go")
    func generations() {
        var table = SessionTable(capacity: 1_000, seed: Sample.seed)
        for number in 0..<100 { Sample.insert(number, into: &table, seed: Sample.seed) }
        var missing = 0
        for number in 100..<9_000 {
            Sample.insert(number, into: &table, seed: Sample.seed)
            guard number % 10 == 0 else { continue }
            for asked in 0..<100 where table.use(Sample.key(asked, seed: Sample.seed)) == nil { missing += 1 }
        }
        #expect(missing == 0)
        #expect(table.count == 1_000)
        for number in 9_000..<15_000 { Sample.insert(number, into: &table, seed: Sample.seed) }
        var stillThere = 0
        for asked in 0..<100 where table.use(Sample.key(asked, seed: Sample.seed)) != nil { stillThere += 1 }
        #expect(stillThere == 0)
    }

    @Test("What a table holds on to goes with it")
    func release() {
        func filled() -> [Watched] {
            var table = SessionTable(capacity: 1_000, seed: Sample.seed)
            let born = (0..<300).map { Sample.insert($0, into: &table, seed: Sample.seed) }
            #expect(born.allSatisfy { $0.isAlive })
            return born
        }
        #expect(!filled().contains { $0.isAlive })
    }
}

/// What the model knows of a session.
private struct Known {
    let epoch: Int64
    var lastSeenAt: Int64
}

/// Whether the facts are still retained.
struct Watched {
    weak var facts: SessionFacts?

    var isAlive: Bool { facts != nil }
}

/// Sessions to fill a table with.
enum Sample {
    static let seed = NameSeed(
        words: (0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89))

    /// One under which all that `id(_:)` makes has the same hash: it takes away the words that are the same in all.
    static let colliding: NameSeed = {
        let words = PackedName(Sample.id(0)).words
        return NameSeed(words: (1, words.1, 2, words.3))
    }()

    /// As long as ours are, and different only in the first and the third eight letters.
    static func id(_ number: Int) -> String {
        let digits = String(number + 100_000)
        return "ses_\(digits.suffix(4))AAAAAAAA\(digits.prefix(2))AAAAAAAA"
    }

    /// Short ones, long ones, and some that are not ASCII.
    static func anyLength(_ number: Int) -> String {
        let fill = number % 2 == 0 ? "x" : "\u{E9}"
        return String(repeating: fill, count: number % 45) + String(number)
    }

    static func key(_ number: Int, seed: NameSeed) -> SessionKey { SessionKey(id(number), seed: seed) }

    static func record(
        _ id: String, tenant: String? = "t", user: String? = "usr_a", epoch: Int64 = 0
    ) -> SessionRecord {
        SessionRecord(
            id: id, state: .authenticated, tenantID: tenant, userID: user, createdAt: 0, lastSeenAt: 0,
            idleTimeout: 1_000, absoluteExpiresAt: 10_000, secretHash: Array(id.utf8), epoch: epoch)
    }

    @discardableResult
    static func insert(_ number: Int, into table: inout SessionTable, seed: NameSeed) -> Watched {
        let entry = SessionView.Entry(record(id(number)))
        _ = table.insert(entry, as: key(number, seed: seed))
        return Watched(facts: entry.facts)
    }
}
