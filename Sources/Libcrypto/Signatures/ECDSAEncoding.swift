/// Converts ECDSA signatures between r‖s (RFC 7518 section 3.4) and the DER that libcrypto uses.
enum ECDSAEncoding {
    /// Room for the DER of two 66-byte numbers, in bytes.
    static let maximumDERByteCount = 144

    /// Writes r‖s as DER and returns its length. `raw` has an even number of bytes, at most 132; for a longer one it
    /// writes nothing and returns 0.
    static func writeDER(_ raw: UnsafeBufferPointer<UInt8>, to out: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let half = raw.count / 2
        let r = number(raw, 0, half)
        let s = number(raw, half, raw.count)
        let content = 4 + r.length + s.length
        guard raw.count <= 132, content + 3 <= out.count else { return 0 }
        var at = 0
        func put(_ byte: UInt8) {
            out[at] = byte
            at += 1
        }
        put(0x30)
        if content >= 0x80 { put(0x81) }
        put(UInt8(truncatingIfNeeded: content))
        for (start, end, length) in [(r.start, half, r.length), (s.start, raw.count, s.length)] {
            put(0x02)
            put(UInt8(truncatingIfNeeded: length))
            // A leading zero keeps the number positive; zero itself is one zero byte.
            if length > end - start { put(0) }
            for index in start..<end { put(raw[index]) }
        }
        return at
    }

    private static func number(
        _ raw: UnsafeBufferPointer<UInt8>, _ from: Int, _ end: Int
    ) -> (start: Int, length: Int) {
        var start = from
        while start < end, raw[start] == 0 { start += 1 }
        guard start < end else { return (end, 1) }
        return (start, end - start + (raw[start] >= 0x80 ? 1 : 0))
    }

    /// The r‖s of a DER signature made by libcrypto, or nil if it is not one. It is no parser for hostile DER.
    static func raw(fromDER der: UnsafeBufferPointer<UInt8>, coordinateByteCount count: Int) -> [UInt8]? {
        var at = 0
        func next() -> UInt8? {
            guard at < der.count else { return nil }
            defer { at += 1 }
            return der[at]
        }
        guard next() == 0x30, let first = next() else { return nil }
        if first == 0x81 { _ = next() }
        var raw = [UInt8](repeating: 0, count: count * 2)
        for half in 0..<2 {
            guard next() == 0x02, let length = next().map(Int.init), at + length <= der.count else { return nil }
            var start = at
            let end = at + length
            while start < end, der[start] == 0 { start += 1 }
            guard end - start <= count else { return nil }
            var place = (half + 1) * count - (end - start)
            for index in start..<end {
                raw[place] = der[index]
                place += 1
            }
            at = end
        }
        return at == der.count ? raw : nil
    }
}
