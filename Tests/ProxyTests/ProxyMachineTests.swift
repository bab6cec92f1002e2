import Foundation
import HTTPWire
import NIOCore
import Testing

@Suite struct ProxyMachineTests {
    /// How many orders of events are tried; more with `GATEHOUSE_SCHEDULES`.
    private static let count = 40_000

    @Test("Bytes are conserved and connections accounted for, whatever the order of events")
    func schedules() {
        var (finished, cut, refused, left) = (0, 0, 0, 0)
        var reused = 0
        let start = ContinuousClock.now
        for seed in 0..<UInt64(Self.count) {
            var world = ProxyWorld(seed: seed)
            let faults = world.run()
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
            if !faults.isEmpty { return }
            switch world.endings.first {
            case "finish"?: finished += 1
            case "abort"?: cut += 1
            case "respond"?: refused += 1
            default: left += 1
            }
            if world.links.contains(where: { $0.released == true }) { reused += 1 }
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        print(
            "\(Self.count) schedules in \(seconds.formatted(.number.precision(.fractionLength(1)))) s:",
            "\(finished) finished, \(cut) cut, \(refused) refused, \(left) left; \(reused) connections reused")
        // Each way to end is among them, or the schedules show nothing.
        #expect(min(finished, cut, refused, left, reused) > Self.count / 200)
    }
}
