// Numbers and strings.
extension JSONScanner {
    // MARK: Numbers

    /// Skips a number. It is refused if it is longer than 128 characters or not finite as a double.
    mutating func number() throws(JSONError) -> JSONPlace {
        let start = offset
        var needsRangeCheck = false
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if byte | 0x20 == UInt8(ascii: "e") {
            needsRangeCheck = true
            offset += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        // No date, size or counter needs more digits, and converting many of them takes time.
        guard offset - start <= 128 else { throw JSONError(.numberOutOfRange, at: start) }
        let place = JSONPlace(start: start, end: offset, hasEscapes: false, isASCII: true)
        if needsRangeCheck, JSONNumber.double(ascii: place.bytes(in: input)) == nil {
            throw JSONError(.numberOutOfRange, at: start)
        }
        return place
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw JSONError(.malformed, at: offset) }
    }

    // MARK: Strings

    /// Skips a string and checks its grammar and length. That it is valid UTF-8 is checked by `text(of:)` or
    /// `checkUTF8(of:)`.
    mutating func string() throws(JSONError) -> JSONPlace {
        let start = offset + 1
        guard let isASCII = plainText() else {
            // The offset is at the byte that ended the plain text.
            guard byte == UInt8(ascii: "\\") else { throw JSONError(.malformed, at: offset) }
            try unescape(from: start)
            return JSONPlace(start: start, end: offset - 1, hasEscapes: true, isASCII: false)
        }
        let place = JSONPlace(start: start, end: offset - 1, hasEscapes: false, isASCII: isASCII)
        guard place.count <= limits.maxStringBytes else { throw JSONError(.stringTooLong, at: start) }
        return place
    }

    /// The value of the string that was read last.
    func text(of place: JSONPlace) throws(JSONError) -> String {
        if place.isASCII { return String(knownASCII: place.bytes(in: input)) }
        let valid =
            place.hasEscapes
            ? String(validating: unescaped, as: UTF8.self)
            : String(validating: place.bytes(in: input), as: UTF8.self)
        guard let text = valid else { throw JSONError(.invalidUTF8, at: place.start) }
        return text
    }

    /// Throws if the string that was read last is not valid UTF-8.
    @inline(__always)
    func checkUTF8(of place: JSONPlace) throws(JSONError) {
        // Most strings were already seen to be ASCII; for the others, a string is made and dropped.
        guard !place.isASCII else { return }
        _ = try text(of: place)
    }

    /// Skips the plain text of a string. If it ends with the closing quote, the quote is skipped as well, and the
    /// result says whether the text is ASCII. Otherwise the result is nil and the offset is at the byte that is not
    /// plain text.
    private mutating func plainText() -> Bool? {
        offset += 1
        var high: UInt64 = 0
        while let eight = EightBytes(input, at: offset) {
            let ends = eight.stringEnds
            if ends != 0 {
                let place = ends.trailingZeroBitCount & ~7
                high |= eight.notASCII & ~(UInt64.max &<< UInt64(place))
                offset &+= place &>> 3
                break
            }
            high |= eight.notASCII
            offset &+= 8
        }
        while byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            high |= UInt64(byte & 0x80)
            offset &+= 1
        }
        guard take(UInt8(ascii: "\"")) else { return nil }
        return high == 0
    }

    // MARK: Escapes

    /// Reads the remainder of a string that has escapes into `unescaped`. The bytes from `start` to the offset are
    /// plain text.
    mutating func unescape(from start: Int) throws(JSONError) {
        // Moved out and back, so that all strings with escapes share one allocation.
        var bytes = unescaped
        unescaped = []
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: input[start..<offset])
        while true {
            let byte = byte
            if byte == UInt8(ascii: "\"") { break }
            guard byte >= 0x20 else { throw JSONError(.malformed, at: offset) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &bytes)
            } else {
                bytes.append(byte)
                offset += 1
            }
            guard bytes.count <= limits.maxStringBytes else { throw JSONError(.stringTooLong, at: start) }
        }
        offset += 1
        unescaped = bytes
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
        let start = offset
        offset += 1
        let letter = byte
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourHexDigits()
            if (0xD800..<0xDC00).contains(code) {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                    throw JSONError(.loneSurrogate, at: start)
                }
                let low = try fourHexDigits()
                guard (0xDC00..<0xE000).contains(low) else { throw JSONError(.loneSurrogate, at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code), let encoded = UTF8.encode(scalar) else {
                throw JSONError(.loneSurrogate, at: start)
            }
            bytes.append(contentsOf: encoded)
        default: throw JSONError(.malformed, at: start)
        }
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = byte
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.malformed, at: offset)
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}
