/// One fault in the configuration: where it is, what is wrong, and what would be valid.
struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// `FILE:LINE:COLUMN`, the name of an environment variable, or a flag.
    let place: String
    /// The key it is about; empty if there is none.
    let key: String
    /// What is wrong, and what would be right, as a part of a sentence. Nothing of the value that could be a secret is
    /// repeated.
    let message: String

    /// - Parameters:
    ///   - place: file, line and column, or the variable or flag.
    ///   - key: the setting; empty where it is of none.
    init(place: String, key: String = "", message: String) {
        self.place = place
        self.key = key
        self.message = message
    }

    /// Place, key and message in one line.
    var description: String {
        [place, key, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// All faults in the configuration, in the order in which they were found.
struct ConfigurationFaults: Error, Sendable, CustomStringConvertible {
    /// Not empty where it is thrown.
    let faults: [ConfigurationFault]

    /// The first fault, and how to see the others, in one line.
    var description: String {
        guard let first = faults.first else { return "the configuration can't be used" }
        let others = faults.count - 1
        return others == 0 ? "\(first)" : "\(first) (and \(others) more: see 'gatehouse config check')"
    }
}

/// Why a text is not a valid value, without the place it comes from.
struct Complaint: Error, Sendable, Equatable {
    /// The index of the element of a list that it is about.
    var index: Int?
    /// As in a fault.
    let message: String

    /// - Parameter index: which element of a list is wrong; nil for the value as a whole.
    init(_ message: String, index: Int? = nil) {
        self.message = message
        self.index = index
    }

    /// Why a list that has to have an element can't be empty.
    ///
    /// - Parameter absence: what leaving the key out stands for; nil for a key that is required.
    static func emptyList(leftOut absence: String?) -> Complaint {
        Complaint("expected at least one" + (absence.map { "; leave the key out for \($0)" } ?? ""))
    }
}
