import HTTPWire
import NIOCore
import NIOHPACK

/// Heads of answers as HPACK fields.
///
/// They are made from lines that the gateway has written itself, after the parser has checked the fields of an
/// upstream's answer, so they are only split and not checked again.
enum HTTP2Answer {
    /// Fields that only concern an HTTP/1.1 connection.
    private static let dropped: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "http2-settings", "sec-websocket-accept",
    ]

    /// The fields of a head with its status line, `:status` first; and the status.
    ///
    /// - Parameter other: the status to send instead: a tunnel is opened by 101 over HTTP/1.1 and by 200 here.
    static func fields(of head: ByteBuffer, as other: String? = nil) -> (fields: HPACKHeaders, status: Int) {
        var lines = head
        // `HTTP/1.1 200 …`
        let line = takeLine(of: &lines)
        let status = line.getString(at: line.readerIndex + 9, length: 3) ?? ""
        var fields = HPACKHeaders()
        fields.reserveCapacity(16)
        fields.add(name: ":status", value: other ?? status)
        add(lines, to: &fields)
        return (fields, Int(status) ?? 500)
    }

    /// Adds the fields of lines, each with its line end, up to the first empty one.
    static func add(_ lines: ByteBuffer, to fields: inout HPACKHeaders) {
        var lines = lines
        while lines.readableBytes > 0 {
            let line = takeLine(of: &lines)
            guard line.readableBytes > 0 else { return }
            guard let colon = line.readableBytesView.firstIndex(of: UInt8(ascii: ":")),
                let name = line.getString(at: line.readerIndex, length: colon - line.readerIndex)
            else { continue }
            let lower = name.lowercased()
            guard !dropped.contains(lower) else { continue }
            var value = line.readableBytesView[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
            fields.add(name: lower, value: String(decoding: value, as: UTF8.self))
        }
    }

    /// Takes the head off the bytes that follow it.
    static func takeHead(of bytes: inout ByteBuffer) -> ByteBuffer {
        let all = bytes
        while bytes.readableBytes > 0, takeLine(of: &bytes).readableBytes > 0 {}
        return all.getSlice(at: all.readerIndex, length: bytes.readerIndex - all.readerIndex) ?? ByteBuffer()
    }

    /// Takes the next line with its CRLF, and returns it without.
    private static func takeLine(of bytes: inout ByteBuffer) -> ByteBuffer {
        let end = bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\r")) ?? bytes.writerIndex
        let line = bytes.readSlice(length: end - bytes.readerIndex) ?? ByteBuffer()
        bytes.moveReaderIndex(forwardBy: min(2, bytes.readableBytes))
        return line
    }
}
