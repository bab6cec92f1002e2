/// The actions that a machine asks for after one event, in this order.
///
/// Nearly every event asks for at most one action, and that is kept without allocating.
struct ActionList<Action>: Sequence {
    private var first: Action?
    /// Those after it; all of them in a list that was written as an array.
    private var others: [Action] = []

    /// No action; allocates nothing.
    static var none: Self { Self() }

    init() {}

    init(_ only: Action) { first = only }

    /// The action comes after those that are in the list. The second one allocates.
    mutating func append(_ action: Action) {
        if first == nil, others.isEmpty { first = action } else { others.append(action) }
    }

    /// Calls `perform` with each action in order. Unlike an iterator, it makes no array of them.
    func carryOut(_ perform: (Action) -> Void) {
        if let first { perform(first) }
        for action in others { perform(action) }
    }

    func makeIterator() -> IndexingIterator<[Action]> { ((first.map { [$0] } ?? []) + others).makeIterator() }
}

extension ActionList: ExpressibleByArrayLiteral {
    init(arrayLiteral actions: Action...) { others = actions }
}
