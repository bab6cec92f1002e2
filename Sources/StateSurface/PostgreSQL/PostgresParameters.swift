/// Parameters in libpq's format, in one allocation: texts and blobs as they are, integers as digits.
struct PostgresParameters {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var lengths: [CInt] = []
    private var formats: [CInt] = []

    init(_ values: [SQLValue]) throws {
        try refuseNUL(in: values)
        for value in values {
            switch value {
            case .null: append(nil, format: 0)
            case .integer(let value): append(Array(String(value).utf8), format: 0)
            case .text(let value): append(Array(value.utf8), format: 1)
            case .blob(let value): append(value, format: 1)
            }
        }
    }

    private mutating func append(_ value: [UInt8]?, format: CInt) {
        offsets.append(value == nil ? nil : bytes.count)
        lengths.append(CInt(clamping: value?.count ?? 0))
        formats.append(format)
        bytes += value ?? []
        bytes.append(0)
    }

    typealias Pointers = (
        CInt, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<CInt>?, UnsafePointer<CInt>?
    )

    func withPointers<Result>(_ body: (Pointers) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { memory in
            let base = memory.bindMemory(to: CChar.self).baseAddress
            let pointers = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return try pointers.withUnsafeBufferPointer { pointers in
                try lengths.withUnsafeBufferPointer { lengths in
                    try formats.withUnsafeBufferPointer { formats in
                        try body(
                            (CInt(offsets.count), pointers.baseAddress, lengths.baseAddress, formats.baseAddress))
                    }
                }
            }
        }
    }
}
