/// One thing wrong with the configuration: where it was said, what is wrong, and what would be right.
struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// `FILE:LINE:COLUMN`, the name of an environment variable, or a flag.
    let place: String
    /// The key it is about, where there is one.
    let key: String
    let message: String

    init(place: String, key: String = "", message: String) {
        self.place = place
        self.key = key
        self.message = message
    }

    var description: String {
        [place, key, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// Everything wrong with the configuration, in the order it was read.
struct ConfigurationFaults: Error, Sendable, CustomStringConvertible {
    let faults: [ConfigurationFault]

    /// One line: the first fault, and how to see the others.
    var description: String {
        guard let first = faults.first else { return "the configuration can't be used" }
        let others = faults.count - 1
        return others == 0 ? "\(first)" : "\(first) (and \(others) more: see 'gatehouse config check')"
    }
}

/// Why a text is not a value of its key. Knows nothing of where the text came from.
struct Complaint: Error, Sendable, Equatable {
    /// Which element of a list it is about.
    var index: Int?
    let message: String

    init(_ message: String, index: Int? = nil) {
        self.message = message
        self.index = index
    }
}
