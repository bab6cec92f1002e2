/// The command line of `session-bench`. Any text is either parsed or refused; none traps.
enum BenchCommand: Equatable, Sendable {
    case write(url: String, group: Int, callers: Int, seconds: Int)
    case change(url: String, callers: Int, seconds: Int)
    case fill(url: String, count: Int)
    case lookup(url: String, count: Int)
    case memoryTable(MemoryTable, count: Int)

    /// What sessions in memory are kept in.
    enum MemoryTable: String, Sendable {
        /// The slots of `SessionTable`.
        case slots
        /// A dictionary of strings, under the same locks.
        case dictionary
    }

    /// - Parameter arguments: the arguments after the program's name.
    init?(_ arguments: [String]) {
        guard arguments.count >= 3 else { return nil }
        let url = arguments[1]
        let numbers = arguments.dropFirst(2).map(Self.number)
        switch (arguments[0], numbers.count) {
        case ("write", 3):
            guard let group = numbers[0], let callers = numbers[1], callers <= 10_000, let seconds = numbers[2],
                seconds <= 3_600
            else { return nil }
            self = .write(url: url, group: group, callers: callers, seconds: seconds)
        case ("change", 2):
            guard let callers = numbers[0], callers <= 10_000, let seconds = numbers[1], seconds <= 3_600 else {
                return nil
            }
            self = .change(url: url, callers: callers, seconds: seconds)
        case ("fill", 1):
            guard let count = numbers[0] else { return nil }
            self = .fill(url: url, count: count)
        case ("lookup", 1):
            guard let count = numbers[0] else { return nil }
            self = .lookup(url: url, count: count)
        case ("memory-table", 1):
            guard let table = MemoryTable(rawValue: url), let count = numbers[0] else { return nil }
            self = .memoryTable(table, count: count)
        default: return nil
        }
    }

    /// A count from one to a hundred million, so that computations with it do not overflow.
    private static func number(_ text: String) -> Int? {
        guard let number = Int(text), (1...100_000_000).contains(number) else { return nil }
        return number
    }
}

/// Converts measured figures to whole numbers for printing, without trapping on any value.
enum BenchFigure {
    /// The rate per second of `count` operations in `duration`; 0 if the duration is zero.
    static func perSecond(_ count: Int, in duration: Duration) -> Int {
        whole(Double(count) / (duration / .seconds(1)))
    }

    static func whole(_ value: Double) -> Int {
        guard value.isFinite else { return 0 }
        return Int(exactly: value.rounded(.down)) ?? (value < 0 ? .min : .max)
    }
}
