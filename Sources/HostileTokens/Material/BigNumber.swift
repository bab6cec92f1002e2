/// Arithmetic on big-endian numbers of a fixed number of bytes, as needed to move a signature out of its range.
enum BigNumber {
    /// The sum, or nil if it needs more bytes than the longer of the two.
    static func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8]? {
        let count = max(left.count, right.count)
        var result = [UInt8](repeating: 0, count: count)
        var carry = 0
        for place in 0..<count {
            let total = digit(left, place) + digit(right, place) + carry
            result[count - 1 - place] = UInt8(truncatingIfNeeded: total)
            carry = total >> 8
        }
        return carry == 0 ? result : nil
    }

    /// The difference of two numbers, in as many bytes as the first. The second must not be greater.
    static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: left.count)
        var borrow = 0
        for place in 0..<left.count {
            let rest = digit(left, place) - digit(right, place) - borrow
            result[left.count - 1 - place] = UInt8(truncatingIfNeeded: rest)
            borrow = rest < 0 ? 1 : 0
        }
        return result
    }

    /// The number minus one. The number must not be zero.
    static func predecessor(_ value: [UInt8]) -> [UInt8] {
        var result = value
        for index in result.indices.reversed() {
            result[index] &-= 1
            if result[index] != 0xFF { break }
        }
        return result
    }

    /// A small number in `count` bytes.
    static func small(_ value: UInt8, count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, count - 1)) + [value]
    }

    private static func digit(_ value: [UInt8], _ place: Int) -> Int {
        place < value.count ? Int(value[value.count - 1 - place]) : 0
    }
}
