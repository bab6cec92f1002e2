import Metrics
import Synchronization

/// The value of one metric: safe from any thread, written out on demand.
protocol Series: AnyObject, Sendable {
    /// - Parameters:
    ///   - name: of the family.
    ///   - labels: its dimensions as the text format has them, without braces; empty for none.
    func write(_ name: String, _ labels: String, to text: inout String)
}

/// A whole number that only grows; past the largest one it begins anew at the smallest.
final class CounterSeries: Series, CounterHandler {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        value.wrappingAdd(amount, ordering: .relaxed)
    }

    func reset() { value.store(0, ordering: .relaxed) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        TextFormat.sample(name, labels, "\(value.load(ordering: .relaxed))", to: &text)
    }
}

/// A number that only grows.
final class SumSeries: Series, FloatingPointCounterHandler {
    private let value = AtomicDouble()

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        value.add(amount)
    }

    func reset() { value.set(0) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        TextFormat.sample(name, labels, TextFormat.number(value.current), to: &text)
    }
}

/// A number that is as it is now.
final class GaugeSeries: Series, MeterHandler, RecorderHandler {
    private let value = AtomicDouble()

    func set(_ value: Int64) { self.value.set(Double(value)) }
    func set(_ value: Double) { self.value.set(value) }
    func increment(by amount: Double) { value.add(amount) }
    func decrement(by amount: Double) { value.add(-amount) }
    func record(_ value: Int64) { self.value.set(Double(value)) }
    func record(_ value: Double) { self.value.set(value) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        TextFormat.sample(name, labels, TextFormat.number(value.current), to: &text)
    }
}

/// How many values were at most as large as each of some bounds, how many there were, and their sum.
final class HistogramSeries: Series, TimerHandler, RecorderHandler {
    /// Upper bounds, in seconds for a timer: half a millisecond to ten seconds, each some twice the one before.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// One more than there are bounds, for what is above them all.
    private let values = (0...HistogramSeries.bounds.count).map { _ in AtomicCount() }
    private let sum = AtomicDouble()

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        var place = 0
        while place < Self.bounds.count, value > Self.bounds[place] { place += 1 }
        values[place].increment()
        sum.add(value)
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        let prefix = labels.isEmpty ? "" : labels + ","
        var total = 0
        for (place, count) in values.enumerated() {
            total += count.current
            let bound = place < Self.bounds.count ? TextFormat.number(Self.bounds[place]) : "+Inf"
            TextFormat.sample("\(name)_bucket", "\(prefix)le=\"\(bound)\"", "\(total)", to: &text)
        }
        TextFormat.sample("\(name)_sum", labels, TextFormat.number(sum.current), to: &text)
        TextFormat.sample("\(name)_count", labels, "\(total)", to: &text)
    }
}

/// A counter without a name.
final class AtomicCount: Sendable {
    private let value = Atomic<Int>(0)

    var current: Int { value.load(ordering: .relaxed) }
    func increment() { value.wrappingAdd(1, ordering: .relaxed) }
}

/// A floating-point number that several threads change, kept as its bits.
final class AtomicDouble: Sendable {
    private let bits = Atomic<UInt64>(0)

    var current: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }
}
