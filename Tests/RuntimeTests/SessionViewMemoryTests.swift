import RandomForTests
import StateSurface
import Testing

@testable import Runtime

@Suite struct SessionViewMemoryTests {
    private func permit(
        _ view: SessionView, _ id: String, tenant: String = "t", user: String = "usr_a", now: Int64 = 0
    ) -> Permit? {
        switch view.admit(sessionID: id, tenantID: tenant, userID: user, now: now) {
        case .granted(let permit): permit
        case .askStore: nil
        }
    }

    @Test(
        "Names of any length are told apart by one letter, and by their length",
        arguments: [0, 1, 6, 7, 8, 21, 22, 23, 25, 29, 30, 31, 32, 63, 200], ["x", "\u{E9}", "\0"])
    func lengths(count: Int, letter: String) {
        let name = String(repeating: letter, count: count)
        let view = SessionView(capacity: 640)
        let record = Sample.record("i" + name, tenant: "t" + name, user: "u" + name)
        view.remember(record, readAfter: view.mark())
        #expect(permit(view, "i" + name, tenant: "t" + name, user: "u" + name)?.sessionID == record.id)
        for other in [name + "y", name + "\0", String(name.dropLast()) + "y", "y" + name] {
            #expect(permit(view, "i" + other, tenant: "t" + name, user: "u" + name) == nil)
            #expect(permit(view, "i" + name, tenant: "t" + other, user: "u" + name) == nil)
            #expect(permit(view, "i" + name, tenant: "t" + name, user: "u" + other) == nil)
        }
    }

    @Test("Two spellings of one text are two names")
    func spellings() {
        let view = SessionView(capacity: 640)
        for padding in ["", String(repeating: "x", count: 64)] {
            let composed = "\u{E9}" + padding
            let decomposed = "e\u{301}" + padding
            view.remember(Sample.record(composed, tenant: composed, user: composed), readAfter: view.mark())
            #expect(permit(view, composed, tenant: composed, user: composed) != nil)
            #expect(permit(view, decomposed, tenant: composed, user: composed) == nil)
            #expect(permit(view, composed, tenant: decomposed, user: composed) == nil)
            #expect(permit(view, composed, tenant: composed, user: decomposed) == nil)
        }
    }

    @Test("A session without a tenant or a user has no owner, for any names of them")
    func nobody() {
        let view = SessionView(capacity: 640)
        let owners: [(String?, String?)] = [(nil, nil), ("t", nil), (nil, "u")]
        for (tenant, user) in owners {
            view.remember(Sample.record("id", tenant: tenant, user: user), readAfter: view.mark())
            for asked in ["", "\0", String(repeating: "\0", count: 23), String(repeating: "\0", count: 31)] {
                #expect(permit(view, "id", tenant: tenant ?? asked, user: user ?? asked) == nil)
            }
        }
    }

    @Test("A permit says what it said after its session was forgotten, and holds on to it no longer than it lives")
    func permitOutlivesMemory() {
        let view = SessionView(capacity: 640)
        let id = Sample.id(7)
        view.remember(Sample.record(id), readAfter: view.mark())
        let watched = Watched(facts: view.entry(id: id)?.facts)
        var permit = permit(view, id)
        view.forget(id: id)
        #expect(self.permit(view, id) == nil)
        #expect(watched.isAlive)
        #expect(permit?.sessionID == id && permit?.userID == "usr_a")
        permit = nil
        #expect(permit == nil && !watched.isAlive)
    }

    @Test("What is forgotten, replaced or crowded out is let go")
    func letGo() {
        let view = SessionView(capacity: 640)
        var born: [Watched] = []
        func remember(_ number: Int) {
            view.remember(Sample.record(Sample.id(number)), readAfter: view.mark())
            born.append(Watched(facts: view.entry(id: Sample.id(number))?.facts))
        }
        for number in 0..<3_000 { remember(number % 2_000) }
        for number in 0..<50 { view.forget(id: Sample.id(number)) }
        #expect(view.count <= 640)
        #expect(born.filter(\.isAlive).count == view.count)
        view.forgetAll()
        #expect(view.count == 0)
        #expect(!born.contains { $0.isAlive })
    }

    @Test("A use is seen by the next read, and not in a value that was read before")
    func touch() {
        let view = SessionView(capacity: 640)
        view.remember(Sample.record("id"), readAfter: view.mark())
        let before = view.entry(id: "id")
        #expect(view.touch(id: "id", at: 900, resolution: 100))
        #expect(!view.touch(id: "id", at: 950, resolution: 100))
        #expect(view.touch(id: "unknown", at: 950, resolution: 100))
        #expect(before?.isLive(at: 999) == true && before?.isLive(at: 1_000) == false)
        #expect(permit(view, "id", now: 1_899) != nil)
        #expect(permit(view, "id", now: 1_900) == nil)
        #expect(view.entry(id: "id")?.isLive(at: 1_899) == true)
    }

    @Test("Many at once get what is theirs, while sessions come and go")
    func together() async {
        let view = SessionView(capacity: 640)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for caller in 0..<4 {
                group.addTask { Self.mixed(view, SeededGenerator(seed: UInt64(caller))) }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
        #expect(view.count <= 640)
    }

    /// Does all there is to be done, in any order.
    /// - Returns: how often a permit was another one's.
    private static func mixed(_ view: SessionView, _ seeded: SeededGenerator) -> Int {
        var dice = seeded
        var wrong = 0
        for step in 0..<5_000 {
            let number = Int.random(in: 0..<1_000, using: &dice)
            let id = Sample.id(number)
            switch Int.random(in: 0..<8, using: &dice) {
            case 0, 1: view.remember(Sample.record(id, user: "usr_\(number)"), readAfter: view.mark())
            case 2: view.forget(id: id)
            case 3: _ = view.touch(id: id, at: 1, resolution: 0)
            case 4 where step % 200 == 0: view.forgetAll()
            default:
                guard
                    case .granted(let permit) = view.admit(
                        sessionID: id, tenantID: "t", userID: "usr_\(number)", now: 2)
                else { continue }
                if permit.sessionID != id || permit.userID != "usr_\(number)" { wrong += 1 }
            }
        }
        return wrong
    }
}
