import HTTPWire
import Runtime

/// Writes times as ``Timestamp`` does, and works out the date once a second. Confined to its loop.
final class LineClock {
    private var second = Int64.min
    /// Up to and with the point before the milliseconds.
    private var prefix: [UInt8] = []

    /// - Parameter now: in ms since the epoch.
    func write(_ now: Int64, to pen: inout BytePen) {
        let milliseconds = ((now % 1_000) + 1_000) % 1_000
        let current = now &- milliseconds
        if current != second {
            second = current
            prefix = Array(Timestamp.text(current).utf8.dropLast(4))
        }
        pen.write(prefix)
        pen.write(decimal: milliseconds, width: 3)
        pen.write(byte: UInt8(ascii: "Z"))
    }
}
