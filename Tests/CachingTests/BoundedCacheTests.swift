import Caching
import RandomForTests
import Testing

@Suite("A cache of bounded size")
struct BoundedCacheTests {
    @Test("What was put in is found, replaced and removed")
    func basics() {
        var cache = BoundedCache<String, Int>(capacity: 10)
        #expect(cache.value(for: "a") == nil)
        cache.insert(1, for: "a")
        cache.insert(2, for: "a")
        #expect(cache.value(for: "a") == 2 && cache.count == 1)
        #expect(cache.remove("a") == 2 && cache.remove("a") == nil)
        #expect(cache.value(for: "a") == nil && cache.count == 0)
        cache.insert(3, for: "b")
        cache.removeAll()
        #expect(cache.value(for: "b") == nil && cache.count == 0)
    }

    @Test("An entry is found until its end and forgotten at it")
    func ends() {
        var cache = BoundedCache<Int, Int>(capacity: 4)
        cache.insert(1, for: 1, until: 100)
        #expect(cache.entry(for: 1, at: 99)?.until == 100)
        #expect(cache.value(for: 1, at: 100) == nil && cache.count == 0)
        cache.insert(1, for: 1, until: 100)
        cache.insert(2, for: 2)
        cache.insert(3, for: 3)
        #expect(cache.value(for: 1, at: 100) == nil)
        #expect(cache.value(for: 1, at: 0) == nil, "forgotten, not only hidden")
        #expect(cache.value(for: 2, at: .max - 1) == 2)
    }

    @Test("What is past its end makes room long before the capacity is reached, and nothing else does")
    func makesRoom() {
        var cache = BoundedCache<Int64, Int64>(capacity: 1_000_000)
        for now in Int64(0)..<10_000 {
            cache.insert(now, for: now, until: now + 50, now: now)
            #expect(cache.value(for: max(0, now - 49), at: now) == max(0, now - 49))
            #expect(cache.count <= 200)
        }
        // An entry without an end is kept.
        cache.insert(1, for: -1, now: 20_000)
        for now in Int64(0)..<100 { cache.insert(now, for: now, until: now + 50, now: 30_000 + now) }
        #expect(cache.value(for: -1) == 1)
    }

    @Test("What is used stays, what was not asked for lately goes")
    func forgets() {
        var cache = BoundedCache<Int, Int>(capacity: 8)
        for key in 0..<1_000 {
            cache.insert(key, for: key)
            #expect(cache.value(for: 0) == 0, "after \(key)")
        }
        #expect(cache.value(for: 1) == nil)
        #expect(cache.value(for: 999) == 999)
    }

    @Test("All of the capacity is used")
    func full() {
        var cache = BoundedCache<Int, Int>(capacity: 100)
        for key in 0..<100 { cache.insert(key, for: key) }
        for key in 0..<100 { #expect(cache.value(for: key) == key) }
        // Every entry was asked for lately, and one still goes.
        cache.insert(100, for: 100)
        #expect(cache.count == 100 && cache.value(for: 100) == 100)
    }

    @Test("What is asked for once does not take the place of what is asked for often")
    func scan() {
        var cache = BoundedCache<Int, Int>(capacity: 100)
        for key in 0..<50 { cache.insert(key, for: key) }
        for round in 0..<50 {
            for key in 0..<50 { #expect(cache.value(for: key) == key, "round \(round)") }
            for key in 0..<40 { cache.insert(key, for: 1000 + round * 40 + key) }
        }
    }

    @Test("An entry stays while as many others are put in as there are places, if the others are not asked for")
    func order() {
        var cache = BoundedCache<Int, Int>(capacity: 100)
        for key in 0..<1000 {
            cache.insert(key, for: key)
            let oldest = max(0, key - 90)
            if key.isMultiple(of: 91) { #expect(cache.value(for: oldest) == oldest) }
        }
    }

    @Test("Heavy entries count for many; what is heavier than half the capacity is not kept")
    func weights() {
        var cache = BoundedCache<Int, Int>(capacity: 100)
        cache.insert(0, for: 0, weight: 51)
        #expect(cache.count == 0)
        for key in 1...100 { cache.insert(key, for: key, weight: 25) }
        #expect(cache.count <= 4)
        cache.insert(7, for: 7, weight: .max)
        #expect(cache.value(for: 7) == nil)
        #expect(cache.value(for: 100) == 100)
    }

    @Test("An entry that is too heavy still takes the place of the one before: that one is out of date")
    func replacedByHeavy() {
        var cache = BoundedCache<Int, Int>(capacity: 10)
        cache.insert(1, for: 1)
        cache.insert(2, for: 1, weight: 100)
        #expect(cache.value(for: 1) == nil)
    }

    @Test("After any operations in any order, it never holds too much, and never an outdated value")
    func model() {
        var generator = SeededGenerator(seed: 11)
        for capacity in [2, 3, 8, 31] {
            var cache = BoundedCache<Int, Int>(capacity: capacity)
            var truth: [Int: (value: Int, until: Int64)] = [:]
            var now: Int64 = 0
            for step in 0..<20_000 {
                let key = Int.random(in: 0..<40, using: &generator)
                now += Int64.random(in: 0...1, using: &generator)
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<5:
                    let until = now + Int64.random(in: 0...50, using: &generator)
                    cache.insert(step, for: key, until: until, now: step.isMultiple(of: 3) ? .min : now)
                    truth[key] = (step, until)
                case 5:
                    cache.remove(key)
                    truth[key] = nil
                case 6 where step % 500 == 0:
                    cache.removeAll()
                    truth = [:]
                default:
                    if let found = cache.value(for: key, at: now) {
                        #expect(truth[key].map { $0.value == found && $0.until > now } == true)
                    }
                }
                #expect(cache.count <= capacity)
            }
        }
    }
}
