/// Milliseconds since 1970.
let now: Int64 = 1_800_000_000_000

struct BadHex: Error {}

func hex(_ text: String) throws -> [UInt8] {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { throw BadHex() }
    return try stride(from: 0, to: digits.count, by: 2).map { at in
        guard let byte = UInt8(String(decoding: digits[at...(at + 1)], as: UTF8.self), radix: 16) else {
            throw BadHex()
        }
        return byte
    }
}
