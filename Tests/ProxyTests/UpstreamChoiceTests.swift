import EdgeConfiguration
import NIOCore
import Testing

@testable import Proxy

@Suite("Which upstream is asked") struct UpstreamChoiceTests {
    private static func candidate(
        _ change: (inout UpstreamChoice.Candidate) -> Void = { _ in }
    ) -> UpstreamChoice.Candidate {
        var candidate = UpstreamChoice.Candidate()
        change(&candidate)
        return candidate
    }

    private static let good = candidate()
    private static let away = candidate { $0.isAvailable = false }
    private static let full = candidate { $0.isFull = true }
    private static let busy = candidate { $0.active = 5 }
    private static let backingOff = candidate { $0.isBackingOff = true }

    static let cases: [([UpstreamChoice.Candidate], Set<Int>, UpstreamChoice.Pick)] = [
        ([], [], .none),
        ([good], [0], .none),
        ([busy, good], [], .member(1)),
        ([away, busy], [], .member(1)),
        ([backingOff, busy], [], .member(1)),
        ([full, busy], [], .member(1)),
        // All are away: any is better than a refusal.
        ([away, away], [], .member(0)),
        ([away], [], .member(0)),
        // The only one that is there was tried.
        ([good, away], [0], .member(1)),
        // One that has enough to do is not relieved by one that fails.
        ([full, away], [], .full),
        ([full, full], [], .full),
        ([full, good], [1], .full),
    ]

    @Test("The freest of those that are available; never none because all were ejected", arguments: cases)
    func picks(_ given: ([UpstreamChoice.Candidate], Set<Int>, UpstreamChoice.Pick)) {
        let pick = UpstreamChoice(panic: 0).pick(given.0, excluding: given.1, turn: 0) { 0.99 }
        #expect(pick == given.2)
    }

    @Test("Where fewer than the panic share are available, all are used", arguments: [(0.4, 1), (0.6, 2)])
    func panic(_ share: Double, _ used: Int) {
        let candidates = [Self.away, Self.good]
        let picked = (0..<2).map { UpstreamChoice(panic: share).pick(candidates, excluding: [], turn: $0) { 0 } }
        #expect(Set(picked.map { "\($0)" }).count == used)
    }

    @Test("Equals take turns")
    func turns() {
        let picks = (0..<6).map {
            UpstreamChoice(panic: 0).pick([Self.good, Self.good, Self.good], excluding: [], turn: $0 % 3) { 0 }
        }
        #expect(picks == [0, 1, 2, 0, 1, 2].map { .member($0) })
    }

    @Test("One that is just back gets its share, and all where there is no other")
    func slowStart() {
        let new = Self.candidate { $0.weight = 0.25 }
        let choice = UpstreamChoice(panic: 0)
        // With turn 1 it would be next.
        #expect(choice.pick([Self.good, new], excluding: [], turn: 1) { 0.24 } == .member(1))
        #expect(choice.pick([Self.good, new], excluding: [], turn: 1) { 0.26 } == .member(0))
        #expect(choice.pick([new], excluding: [], turn: 0) { 0.99 } == .member(0))
    }
}
