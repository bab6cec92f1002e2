/// A JSON object: members in the order of the text, with names that are unique as UTF-8 bytes.
public struct JSONObject: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A member. A structure and not a tuple, because arrays of tuples are slower to release.
    package struct Member: Sendable {
        /// The name.
        package let name: String
        /// The value.
        package var value: JSONValue
    }

    /// The members in their order.
    package private(set) var list: [Member]

    /// The members in their order.
    public var members: [(name: String, value: JSONValue)] { list.map { ($0.name, $0.value) } }

    /// An empty object.
    public init() {
        list = []
    }

    /// An object with these members. A repeated name replaces the value of the first.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        list = []
        list.reserveCapacity(elements.count)
        for (name, value) in elements { self[name] = value }
    }

    /// An object with members whose names are known to be unique.
    init(unique members: [Member]) {
        list = members
    }

    /// The number of members.
    public var count: Int { list.count }

    /// Whether there are no members.
    public var isEmpty: Bool { list.isEmpty }

    /// The names in their order.
    public var names: [String] { list.map(\.name) }

    /// The value of the member with this name. Setting replaces the value of an existing member in its place, or
    /// appends a new member; setting nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get {
            place(of: name).map { list[$0].value }
        }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): list[place].value = value
            case (let place?, nil): list.remove(at: place)
            case (nil, let value?): list.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    private func place(of name: String) -> Int? {
        // By index, because iterating would retain and release every member it passes.
        list.indices.first { list[$0].name.hasSameBytes(as: name) }
    }

    /// Appends a member, or replaces the value of the member with this name.
    public mutating func append(_ name: String, _ value: JSONValue) {
        self[name] = value
    }

    /// Whether both have the same names with the same values, in any order.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        for (mine, other) in zip(left.list, right.list) {
            if mine.name.hasSameBytes(as: other.name) {
                guard mine.value == other.value else { return false }
            } else {
                guard right[mine.name] == mine.value, left[other.name] == other.value else { return false }
            }
        }
        return true
    }
}
