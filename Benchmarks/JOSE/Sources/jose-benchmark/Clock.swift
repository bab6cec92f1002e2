import Foundation

/// Processor time of this process, in seconds: what else the machine does is not in it.
func processorTime() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
}

/// Seconds per operation of each contender: they take turns of some milliseconds, so that a slow minute is slow for
/// all of them, and the median turn counts.
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
