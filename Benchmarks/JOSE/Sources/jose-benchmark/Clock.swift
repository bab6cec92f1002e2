import Foundation

/// Processor time of this process in seconds, which does not include other load on the machine.
func processorTime() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
}

/// Seconds per operation of each contender. They take turns of some milliseconds, so that changes in the machine's
/// speed affect all of them, and the result is the median turn.
func race(_ contenders: [Contender], rounds: Int = 150, turn: Double = 0.004) async throws -> [Double] {
    var counts: [Int] = []
    for contender in contenders {
        var count = 8
        while true {
            let start = processorTime()
            guard try await contender.run(count) else { throw BenchmarkError("\(contender.name) failed") }
            let spent = processorTime() - start
            if spent >= turn / 4 {
                counts.append(max(4, Int(Double(count) * turn / spent)))
                break
            }
            count *= 2
        }
    }
    var turns = contenders.map { _ in [Double]() }
    for _ in 0..<rounds {
        for (index, contender) in contenders.enumerated() {
            let start = processorTime()
            guard try await contender.run(counts[index]) else { throw BenchmarkError("\(contender.name) failed") }
            turns[index].append((processorTime() - start) / Double(counts[index]))
        }
    }
    return turns.map { $0.sorted()[$0.count / 2] }
}
