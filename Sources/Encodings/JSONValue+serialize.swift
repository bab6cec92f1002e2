extension JSONValue {
    /// The compact JSON text. Members keep their order; control characters are escaped.
    public func serialized() -> String {
        String(decoding: serializedBytes(), as: UTF8.self)
    }

    /// The compact JSON text as UTF-8 bytes.
    public func serializedBytes() -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        write(to: &out)
        return out
    }

    fileprivate func write(to out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let value):
            var text = value.text
            text.withUTF8 { out.append(contentsOf: $0) }
        case .string(let value): JSONText.append(value, to: &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for index in values.indices {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                values[index].write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object): object.write(to: &out)
        }
    }
}

extension JSONObject {
    /// The compact JSON text. Members keep their order; control characters are escaped.
    public func serialized() -> String {
        String(decoding: serializedBytes(), as: UTF8.self)
    }

    /// The compact JSON text as UTF-8 bytes.
    public func serializedBytes() -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        write(to: &out)
        return out
    }

    fileprivate func write(to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        // By index in the list, because `members` makes a new array each time.
        for index in list.indices {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            JSONText.append(list[index].name, to: &out)
            out.append(UInt8(ascii: ":"))
            list[index].value.write(to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }
}
