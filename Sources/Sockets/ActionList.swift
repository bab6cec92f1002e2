/// The actions that a machine asks for after one event, in this order.
///
/// Nearly every event asks for at most one action, and that is kept without allocating.
struct ActionList<Action>: Sequence {
    private var first: Action?
    private var others: [Action] = []

    /// No action; allocates nothing.
    static var none: Self { Self() }

    init() {}

    init(_ only: Action) { first = only }

    /// The action comes after those that are in the list. The second one allocates.
    mutating func append(_ action: Action) {
        if first == nil { first = action } else { others.append(action) }
    }

    struct Iterator: IteratorProtocol {
        fileprivate var list: ActionList
        fileprivate var position = -1

        mutating func next() -> Action? {
            defer { position += 1 }
            if position < 0 { return list.first }
            return position < list.others.count ? list.others[position] : nil
        }
    }

    func makeIterator() -> Iterator { Iterator(list: self) }
}

extension ActionList: ExpressibleByArrayLiteral {
    init(arrayLiteral actions: Action...) {
        for action in actions { append(action) }
    }
}
