import Testing

@testable import Webhooks

@Suite("Deliveries")
struct DeliveryTests {
    private let start: Int64 = 1_800_000_000_000

    private func delivery(_ id: String, lane: String = "s1", sequence: Int64 = 0, receiver: String = "app") -> Delivery
    {
        Delivery(
            id: id, lane: Delivery.Lane(receiver: receiver, key: lane), sequence: sequence, createdAt: start)
    }

    private func sent(_ actions: [DeliveryQueue.Action]) -> [String] {
        actions.compactMap { if case .send(let delivery) = $0 { delivery.id } else { nil } }
    }

    @Test(
        "An answer means one thing",
        arguments: [
            (200, nil, ReceiverVerdict.delivered), (202, nil, .delivered), (204, "5", .delivered),
            (410, nil, .gone), (429, "120", .retry(after: 120_000)), (503, "0", .retry(after: 0)),
            (503, "Wed, 21 Oct 2026 07:28:00 GMT", .retry(after: nil)), (503, "-1", .retry(after: nil)),
            (503, "99999999999", .retry(after: nil)), (500, "5", .retry(after: nil)), (400, nil, .retry(after: nil)),
            (401, nil, .retry(after: nil)), (302, nil, .retry(after: nil)), (101, nil, .retry(after: nil)),
        ] as [(Int, String?, ReceiverVerdict)])
    func verdict(status: Int, retryAfter: String?, expected: ReceiverVerdict) {
        #expect(ReceiverVerdict(status: status, retryAfter: retryAfter) == expected)
        #expect(ReceiverVerdict(status: nil) == .retry(after: nil))
    }

    @Test("Pauses double up to an hour, less or more a fifth") func pauses() {
        let middle = (1...14).map { Delivery.pause(afterAttempt: $0, jitter: 0.5) / 1000 }
        #expect(middle == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600])
        #expect(Delivery.pause(afterAttempt: 1, jitter: 0) == 800 && Delivery.pause(afterAttempt: 1, jitter: 1) == 1200)
        #expect(Delivery.pause(afterAttempt: .max, jitter: 0.5) == 3_600_000)
        #expect(
            Delivery.pause(afterAttempt: 0, jitter: .nan) == 1000 && Delivery.pause(afterAttempt: 1, jitter: 9) == 1200)
    }

    @Test("An unaccepted event is tried for 24 hours, a last time at their end, and given up") func deadLetter() {
        var delivery = delivery("a")
        var now = start
        while true {
            let outcome = delivery.outcome(.retry(after: nil), now: now, jitter: 0.5)
            guard case .retry(let next) = outcome else {
                #expect(outcome == .dead(.expired))
                break
            }
            #expect(next.attempts == delivery.attempts + 1 && next.dueAt > now && next.dueAt <= start + 86_400_000)
            delivery = next
            now = next.dueAt
        }
        #expect(now == start + 86_400_000)
        #expect((30...40).contains(delivery.attempts))
    }

    @Test("A receiver may ask for a longer pause than the schedule's, up to an hour, and for no shorter one")
    func retryAfter() {
        func due(_ seconds: Int64) -> Int64? {
            guard case .retry(let next) = delivery("a").outcome(.retry(after: seconds * 1000), now: start, jitter: 0.5)
            else { return nil }
            return next.dueAt - start
        }
        #expect(due(0) == 1000 && due(60) == 60_000 && due(100_000) == 3_600_000)
    }

    @Test("A session's events go one after another, those of others beside them") func order() {
        var queue = DeliveryQueue()
        let first = queue.handle(
            .loaded([
                delivery("a1", lane: "a", sequence: 1), delivery("a2", lane: "a", sequence: 2),
                delivery("b1", lane: "b", sequence: 3), delivery("a3", lane: "a", sequence: 4),
            ]), now: start)
        #expect(sent(first) == ["a1", "b1"])
        #expect(sent(queue.handle(.tick, now: start)).isEmpty)

        let failed = queue.handle(.answered(id: "a1", .retry(after: nil), jitter: 0.5), now: start)
        #expect(sent(failed).isEmpty && failed.contains(.wake(at: start + 1000)))
        #expect(sent(queue.handle(.tick, now: start + 999)).isEmpty)
        #expect(sent(queue.handle(.tick, now: start + 1000)) == ["a1"])
        #expect(sent(queue.handle(.answered(id: "a1", .delivered, jitter: 0), now: start + 1000)) == ["a2"])
        let deadLettered = queue.handle(.answered(id: "a2", .gone, jitter: 0), now: start + 1000)
        #expect(sent(deadLettered) == ["a3"])
        #expect(deadLettered.contains { if case .deadLetter(let dead, .gone) = $0 { dead.id == "a2" } else { false } })
    }

    @Test("The same session at two receivers is two lanes") func receivers() {
        var queue = DeliveryQueue()
        let actions = queue.handle(
            .loaded([delivery("x", receiver: "one"), delivery("y", receiver: "two")]), now: start)
        #expect(sent(actions) == ["x", "y"])
    }

    @Test("What is loaded twice, or answered twice, counts once") func repeated() {
        var queue = DeliveryQueue()
        #expect(sent(queue.handle(.loaded([delivery("a"), delivery("a")]), now: start)) == ["a"])
        #expect(sent(queue.handle(.loaded([delivery("a")]), now: start)).isEmpty)
        #expect(queue.count == 1)
        #expect(queue.handle(.answered(id: "a", .delivered, jitter: 0), now: start) == [.remove(delivery("a"))])
        #expect(queue.handle(.answered(id: "a", .delivered, jitter: 0), now: start).isEmpty)
        #expect(queue.handle(.answered(id: "unknown", .gone, jitter: 0), now: start).isEmpty)
        #expect(queue.count == 0)
    }

    @Test("What was begun before a restart goes on where it was") func restart() {
        var queue = DeliveryQueue()
        let waiting = Delivery(
            id: "a", lane: Delivery.Lane(receiver: "app", key: "s"), sequence: 1, createdAt: start, attempts: 3,
            dueAt: start + 8000)
        #expect(queue.handle(.loaded([waiting]), now: start + 1000) == [.wake(at: start + 8000)])
        #expect(queue.handle(.tick, now: start + 8000) == [.send(waiting)])
        let failed = queue.handle(.answered(id: "a", .retry(after: nil), jitter: 0.5), now: start + 8000)
        #expect(failed.contains { if case .store(let next) = $0 { next.attempts == 4 } else { false } })
    }

    @Test("Only so many are sent at a time, and so many held; what was left comes before what is newer") func bounds() {
        var queue = DeliveryQueue(capacity: 4, width: 2)
        let all = (0..<6).map { delivery("d\($0)", lane: "l\($0)", sequence: Int64($0)) }
        #expect(sent(queue.handle(.loaded(all), now: start)) == ["d0", "d1"])
        #expect(queue.count == 4)
        // Nothing newer passes those that were left in the store.
        #expect(sent(queue.handle(.loaded([delivery("new", sequence: 9)]), now: start)).isEmpty)
        #expect(queue.count == 4)
        #expect(sent(queue.handle(.answered(id: "d0", .delivered, jitter: 0), now: start)) == ["d2"])
        let half = queue.handle(.answered(id: "d1", .delivered, jitter: 0), now: start)
        #expect(half.contains(.load) && sent(half) == ["d3"])
        _ = queue.handle(.loaded(Array(all[4...])), now: start)
        #expect(queue.count == 4)
        #expect(sent(queue.handle(.answered(id: "d2", .delivered, jitter: 0), now: start)) == ["d4"])
    }

    @Test("An earlier event that is loaded later still goes first, unless a later one is under way") func sorted() {
        var queue = DeliveryQueue(capacity: 10, width: 1)
        #expect(sent(queue.handle(.loaded([delivery("x", lane: "x", sequence: 0)]), now: start)) == ["x"])
        _ = queue.handle(.loaded([delivery("s5", sequence: 5)]), now: start)
        _ = queue.handle(.loaded([delivery("s3", sequence: 3)]), now: start)
        #expect(sent(queue.handle(.answered(id: "x", .delivered, jitter: 0), now: start)) == ["s3"])
        _ = queue.handle(.loaded([delivery("s1", sequence: 1)]), now: start)
        #expect(sent(queue.handle(.answered(id: "s3", .delivered, jitter: 0), now: start)) == ["s1"])
    }
}
