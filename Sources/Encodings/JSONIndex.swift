/// An object that was read as strictly as any and left where it is: where its members are, and nothing made of them.
///
/// What is only compared is compared in the text; what is asked for is made then.
package struct JSONIndex: Sendable {
    /// The name of a member.
    package struct Name: Sendable {
        let place: JSONPlace
        /// A name of three bytes as a number, the first one highest; 0 for names of any other length.
        package let short: UInt32

        init(_ place: JSONPlace, short: UInt32) {
            self.place = place
            self.short = short
        }
    }

    /// The value of a member.
    package struct Value: Sendable {
        let place: JSONPlace
        /// What it is.
        package let kind: JSONKind
        /// Whether it is a string, an array or an object with nothing in it.
        package let isEmpty: Bool
        /// Whether it is an array without any element that is not a string.
        package let holdsStringsOnly: Bool

        init(_ place: JSONPlace, _ kind: JSONKind, isEmpty: Bool = false, holdsStringsOnly: Bool = false) {
            self.place = place
            self.kind = kind
            self.isEmpty = isEmpty
            self.holdsStringsOnly = holdsStringsOnly
        }
    }

    /// A member.
    package struct Member: Sendable {
        package let name: Name
        package let value: Value

        init(_ name: Name, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The members in their order; the names are unique as UTF-8 bytes.
    package let members: [Member]
    private let bytes: [UInt8]
    private let end: Int

    /// Reads the one object that the first bytes of an array spell; refuses what `StrictJSON.object` refuses.
    ///
    /// - Parameters:
    ///   - bytes: the text, which is kept, and whatever is behind it.
    ///   - end: where the text ends.
    ///   - limits: what it may cost.
    package init(reading bytes: [UInt8], upTo end: Int, limits: JSONLimits) throws(JSONError) {
        members = try bytes.withUnsafeBufferPointer { text in
            StrictJSON.members(buffer: UnsafeBufferPointer(rebasing: text.prefix(end)), limits)
        }.get()
        self.bytes = bytes
        self.end = end
    }

    // MARK: Names

    /// The place of the member of a name.
    package func place(of name: String) -> Int? {
        members.indices.first { isNamed(name, at: $0) }
    }

    /// Whether a member has exactly this name.
    package func isNamed(_ name: String, at place: Int) -> Bool {
        spells(members[place].name.place, name)
    }

    /// The name of a member.
    package func name(at place: Int) -> String {
        text(of: members[place].name.place)
    }

    // MARK: Values

    /// Whether the value of a member is exactly this string.
    package func isString(_ wanted: String, at place: Int) -> Bool {
        let value = members[place].value
        return value.kind == .string && spells(value.place, wanted)
    }

    /// Whether the value of a member is an array of strings, exactly this one among them.
    package func holds(_ wanted: String, at place: Int) -> Bool {
        let array = members[place].value
        guard array.kind == .array, array.holdsStringsOnly, !array.isEmpty else { return false }
        return bytes.withUnsafeBufferPointer { text in
            holds(wanted, UnsafeBufferPointer(rebasing: text.prefix(array.place.end)), from: array.place.start)
        }
    }

    private func holds(_ wanted: String, _ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        var scanner = JSONScanner(text, limits: .unbounded, from: start)
        do throws(JSONError) {
            try scanner.descend()
            while true {
                let element = try scanner.string()
                if spells(element, wanted) { return true }
                if try scanner.atEnd(UInt8(ascii: "]")) { return false }
            }
        } catch {
            // It was read before, so this does not happen.
            return false
        }
    }

    /// The text of a member's value, if it is a string.
    package func string(at place: Int) -> String? {
        let value = members[place].value
        return value.kind == .string ? text(of: value.place) : nil
    }

    /// The nearest floating-point value of a member's value, if it is a number.
    package func number(at place: Int) -> Double? {
        let value = members[place].value
        guard value.kind == .number else { return nil }
        return bytes.withUnsafeBufferPointer { JSONNumber.double(ascii: value.place.bytes(in: $0)) }
    }

    /// The value of a member.
    package func value(at place: Int) -> JSONValue {
        let value = members[place].value
        switch value.kind {
        case .string: return .string(text(of: value.place))
        case .yes: return .bool(true)
        case .no: return .bool(false)
        case .null: return .null
        case .number, .array, .object: return parsed(value.place) ?? .null
        }
    }

    /// The whole object.
    package var object: JSONObject {
        let whole = JSONPlace(start: 0, end: end, hasEscapes: false, isASCII: false)
        return parsed(whole)?.objectValue ?? JSONObject()
    }

    // MARK: Bytes

    /// A part of the text as a value: it was judged with the whole, so that it cannot be refused now.
    private func parsed(_ place: JSONPlace) -> JSONValue? {
        let result = bytes.withUnsafeBufferPointer { StrictJSON.parse(buffer: place.bytes(in: $0), .unbounded) }
        guard case .success(let value) = result else { return nil }
        return value
    }

    private func text(of place: JSONPlace) -> String {
        bytes.withUnsafeBufferPointer { place.string(in: $0) }
    }

    private func spells(_ place: JSONPlace, _ wanted: String) -> Bool {
        guard place.hasEscapes || place.count == wanted.utf8.count else { return false }
        let isSame = wanted.utf8.withContiguousStorageIfAvailable { wanted in
            bytes.withUnsafeBufferPointer { place.spells(wanted, in: $0) }
        }
        return isSame ?? text(of: place).hasSameBytes(as: wanted)
    }
}
