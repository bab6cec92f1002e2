/// An IPv4 or IPv6 address as a number.
package enum IPAddress: Sendable, Equatable {
    case v4(UInt32)
    case v6(high: UInt64, low: UInt64)

    /// Of four or sixteen bytes in network order, as `sockaddr_in` and `sockaddr_in6` have them.
    package init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            self = .v6(
                high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// Of its text: four decimal numbers without leading zeros, or RFC 4291 §2.2 without a zone.
    ///
    /// The other spellings that `inet_aton` reads (`127.1`, `0177.0.0.1`, one number) are no addresses here.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 45 else { return nil }
        if bytes.contains(UInt8(ascii: ":")) {
            guard let groups = Self.groups(bytes) else { return nil }
            self.init(bytes: groups.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] })
        } else {
            guard let number = Self.quad(bytes[...]) else { return nil }
            self = .v4(number)
        }
    }

    /// The text, without abbreviation: four decimal numbers, or eight groups of hexadecimal digits.
    package var text: String {
        switch self {
        case .v4(let number):
            return stride(from: 24, through: 0, by: -8).map { String(number >> UInt32($0) & 0xFF) }
                .joined(separator: ".")
        case .v6(let high, let low):
            return [high, low].flatMap { half in
                stride(from: 48, through: 0, by: -16).map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }
            }.joined(separator: ":")
        }
    }

    /// The text in the one form that RFC 5952 recommends: the longest run of two or more groups of zeros, the first of
    /// equals, is `::`. An IPv4 address is as in ``text``.
    package var canonicalText: String {
        guard case .v6 = self else { return text }
        let groups = text.split(separator: ":")
        var best = groups.startIndex..<groups.startIndex
        var start = groups.startIndex
        while start < groups.endIndex {
            let end = groups[start...].firstIndex { $0 != "0" } ?? groups.endIndex
            if end - start > max(1, best.count) { best = start..<end }
            start = max(end, start + 1)
        }
        guard !best.isEmpty else { return text }
        return groups[..<best.lowerBound].joined(separator: ":") + "::"
            + groups[best.upperBound...].joined(separator: ":")
    }

    private static func quad(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0"),
                part.allSatisfy({ (0x30...0x39).contains($0) }),
                let value = UInt8(String(decoding: part, as: UTF8.self))
            else { return nil }
            number = number << 8 | UInt32(value)
        }
        return number
    }

    /// The eight groups of an IPv6 address.
    private static func groups(_ bytes: [UInt8]) -> [UInt16]? {
        var halves: [[UInt16]] = [[]]
        var rest = bytes[...]
        if rest.starts(with: "::".utf8) {
            halves.append([])
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: ":") }
            let isLast = part.count == rest.count
            if part.contains(UInt8(ascii: ".")) {
                guard isLast, let quad = quad(part) else { return nil }
                halves[halves.count - 1] += [UInt16(quad >> 16), UInt16(truncatingIfNeeded: quad)]
                break
            }
            guard (1...4).contains(part.count), part.allSatisfy({ FormText.hexValue($0) != nil }),
                let value = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
            else { return nil }
            halves[halves.count - 1].append(value)
            rest = rest.dropFirst(part.count)
            guard !isLast else { break }
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: ":") {
                guard halves.count == 1 else { return nil }
                halves.append([])
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        let count = halves.reduce(0) { $0 + $1.count }
        if halves.count == 1 { return count == 8 ? halves[0] : nil }
        // `::` stands for at least one group.
        guard count <= 7 else { return nil }
        return halves[0] + [UInt16](repeating: 0, count: 8 - count) + halves[1]
    }
}
