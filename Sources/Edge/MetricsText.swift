/// Metrics in the text format of Prometheus (version 0.0.4): each family with its HELP and TYPE before its samples.
package struct MetricsText {
    package enum Kind: String {
        case counter
        case gauge
    }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    /// A family of one sample without labels.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        begin(name, kind, help)
        text += "\(name) \(value)\n"
    }

    /// A family with one label, whose values come from a closed list; it may have no samples yet.
    package mutating func add(
        _ name: String, _ kind: Kind, _ help: String, label: String, _ samples: [(value: String, count: Int)]
    ) {
        begin(name, kind, help)
        for sample in samples { text += "\(name){\(label)=\"\(sample.value)\"} \(sample.count)\n" }
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }
}
