import Encodings

/// Names of an operator's list, compared as bytes.
package struct NameSet: Sendable, Equatable {
    private let names: Set<ByteName>

    /// The names of a list.
    package init(_ names: some Sequence<String>) { self.names = Set(names.map(ByteName.init)) }

    /// Whether the name is one of them.
    package func contains(_ name: String) -> Bool { names.contains(ByteName(name)) }

    /// Whether one of them is among `others`. The shorter list should be this one.
    func meets(_ others: Set<ByteName>) -> Bool { names.contains { others.contains($0) } }
}
