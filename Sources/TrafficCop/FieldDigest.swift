/// Several fields as one string of bytes, each preceded by its length, so that two different lists of fields never give
/// the same bytes.
struct FieldDigest {
    private(set) var bytes: [UInt8] = []

    /// Reserves room for the fields of a contract or an intent, so that appending seldom has to grow the array.
    init() { self.bytes.reserveCapacity(256) }

    mutating func append(_ field: some Collection<UInt8>) {
        append(UInt64(field.count))
        bytes.append(contentsOf: field)
    }

    mutating func append(_ field: String) {
        append(field.utf8)
    }

    /// Appends an optional field: nil and the empty string give different bytes.
    mutating func append(_ field: String?) {
        bytes.append(field == nil ? 0 : 1)
        if let field { append(field.utf8) }
    }

    mutating func append(_ number: Int64) {
        append(UInt64(bitPattern: number))
    }

    private mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
