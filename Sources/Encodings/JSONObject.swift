/// A JSON object: members in their order, names unique as UTF-8 bytes.
public struct JSONObject: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// The members in their order.
    public private(set) var members: [(name: String, value: JSONValue)]

    /// An empty object.
    public init() {
        members = []
    }

    /// An object of these members; a name that comes again replaces the first value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        members = []
        members.reserveCapacity(elements.count)
        for (name, value) in elements { self[name] = value }
    }

    /// Members whose names the parser found to be unique.
    init(unique members: [(name: String, value: JSONValue)]) {
        self.members = members
    }

    /// How many members there are.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in their order.
    public var names: [String] { members.map(\.name) }

    /// The value of a name; setting keeps the place of a known name, appends a new one, and nil removes.
    public subscript(name: String) -> JSONValue? {
        get {
            place(of: name).map { members[$0].value }
        }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    private func place(of name: String) -> Int? {
        // By index, because iterating would count a reference to each member it passes.
        members.indices.first { members[$0].name.hasSameBytes(as: name) }
    }

    /// Adds a member at the end, or replaces the value of a known name.
    public mutating func append(_ name: String, _ value: JSONValue) {
        self[name] = value
    }

    /// Whether both have the same names with the same values, in any order.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        for (mine, other) in zip(left.members, right.members) {
            if mine.name.hasSameBytes(as: other.name) {
                guard mine.value == other.value else { return false }
            } else {
                guard right[mine.name] == mine.value, left[other.name] == other.value else { return false }
            }
        }
        return true
    }
}
