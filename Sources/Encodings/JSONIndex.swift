/// A JSON object that was checked as ``StrictJSON`` checks it, but of which no values were made: only the places of its
/// members in the text are kept.
///
/// Comparisons are made on the text. A value is made when it is asked for.
package struct JSONIndex: Sendable {
    /// The name of a member.
    package struct Name: Sendable {
        let place: JSONPlace
        /// A name of three bytes as a number, the first byte highest; 0 for names of any other length.
        package let short: UInt32

        init(_ place: JSONPlace, short: UInt32) {
            self.place = place
            self.short = short
        }
    }

    /// The value of a member.
    package struct Value: Sendable {
        let place: JSONPlace
        /// The type of the value.
        package let kind: JSONKind
        /// Whether it is an empty string, array or object.
        package let isEmpty: Bool
        /// Whether it is an array and all its elements, if any, are strings.
        package let holdsStringsOnly: Bool

        init(_ place: JSONPlace, _ kind: JSONKind, isEmpty: Bool = false, holdsStringsOnly: Bool = false) {
            self.place = place
            self.kind = kind
            self.isEmpty = isEmpty
            self.holdsStringsOnly = holdsStringsOnly
        }
    }

    /// A member of the object.
    package struct Member: Sendable {
        /// Its name.
        package let name: Name
        /// Its value.
        package let value: Value

        init(_ name: Name, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The members in the order of the text. Their names are unique as UTF-8 bytes after unescaping.
    package let members: [Member]
    private let bytes: [UInt8]
    private let end: Int

    /// Reads the object in the first bytes of an array.
    ///
    /// - Parameters:
    ///   - bytes: the text, and possibly other bytes behind it. The array is kept.
    ///   - end: where the text ends.
    ///   - limits: the bounds on the text.
    /// - Throws: what ``StrictJSON/object(_:limits:)`` throws for the same text.
    package init(reading bytes: [UInt8], upTo end: Int, limits: JSONLimits) throws(JSONError) {
        members = try bytes.withUnsafeBufferPointer { text in
            StrictJSON.members(buffer: UnsafeBufferPointer(rebasing: text.prefix(end)), limits)
        }.get()
        self.bytes = bytes
        self.end = end
    }

    // MARK: Names

    /// The index in ``members`` of the member with this name, or nil.
    package func place(of name: String) -> Int? {
        members.indices.first { isNamed(name, at: $0) }
    }

    /// Whether the member at an index has exactly this name.
    package func isNamed(_ name: String, at place: Int) -> Bool {
        spells(members[place].name.place, name)
    }

    /// The name of the member at an index.
    package func name(at place: Int) -> String {
        text(of: members[place].name.place)
    }

    // MARK: Values

    /// Whether the value of the member at an index is exactly this string.
    package func isString(_ wanted: String, at place: Int) -> Bool {
        let value = members[place].value
        return value.kind == .string && spells(value.place, wanted)
    }

    /// Whether the value of the member at an index is an array of strings that contains exactly this one.
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
            // Cannot happen: the text was checked when the index was made.
            return false
        }
    }

    /// The value of the member at an index, if it is a string.
    package func string(at place: Int) -> String? {
        let value = members[place].value
        return value.kind == .string ? text(of: value.place) : nil
    }

    /// The value of the member at an index as the nearest double, if it is a number.
    package func number(at place: Int) -> Double? {
        let value = members[place].value
        guard value.kind == .number else { return nil }
        return bytes.withUnsafeBufferPointer { JSONNumber.double(ascii: value.place.bytes(in: $0)) }
    }

    /// The value of the member at an index.
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

    /// A part of the text as a value. It was checked with the whole text, so the limits do not apply again.
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
