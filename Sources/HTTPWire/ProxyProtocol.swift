import NIOCore

/// The PROXY protocol, versions 1 and 2: the header with which a load balancer passes on the client's address.
///
/// Anything that is not a complete header of one of the versions is malformed.
public enum ProxyProtocol {
    /// The client that the header names.
    public enum Source: Sendable, Equatable {
        /// None: the connection comes from the balancer itself (`LOCAL`), or from an address of a kind that is not IP
        /// (`UNKNOWN`).
        case unnamed
        /// The address of version 1 as text. That it is an address has not been checked.
        case text(String)
        /// The 4 bytes of an IPv4 address or the 16 of an IPv6 address.
        case bytes([UInt8])
    }

    /// The result of reading a header.
    public enum Outcome: Sendable, Equatable {
        /// The header is not complete.
        case needMoreData
        /// A complete header, which has been removed from the buffer.
        case source(Source)
        /// Not a PROXY header; the connection must be closed.
        case malformed
    }

    /// The longest line of version 1 in bytes, CRLF included.
    public static let maxLine = 107
    /// The largest length accepted after the fixed part of version 2, in bytes. It has room for addresses and some
    /// extensions.
    public static let maxBlock = 1024

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// Reads the header at the front of `buffer`, and removes it when it is complete. What follows it was sent by the
    /// client.
    ///
    /// It is called on the connection's event loop with all bytes that have arrived, until it returns anything but
    /// ``Outcome/needMoreData``. Nothing bounds the time: the caller closes a connection whose header does not come.
    public static func read(_ buffer: inout ByteBuffer) -> Outcome {
        let start = Array(buffer.readableBytesView.prefix(signature.count))
        if signature.starts(with: start) {
            return start.count == signature.count ? readBinary(&buffer) : .needMoreData
        }
        let word = Array("PROXY ".utf8)
        guard start.prefix(word.count).elementsEqual(word.prefix(start.count)) else { return .malformed }
        return readLine(&buffer)
    }

    // MARK: Version 1

    private static func readLine(_ buffer: inout ByteBuffer) -> Outcome {
        let view = buffer.readableBytesView.prefix(maxLine)
        guard let end = view.firstIndex(of: Byte.lineFeed) else {
            return view.count < maxLine ? .needMoreData : .malformed
        }
        let line = Array(view[..<end])
        buffer.moveReaderIndex(forwardBy: line.count + 1)
        guard line.last == Byte.carriageReturn else { return .malformed }
        let words = line.dropLast().split(separator: Byte.space, omittingEmptySubsequences: false)
        guard words.count >= 2 else { return .malformed }
        if words[1].elementsEqual("UNKNOWN".utf8) { return .source(.unnamed) }
        guard words.count == 6, words[1].elementsEqual("TCP4".utf8) || words[1].elementsEqual("TCP6".utf8),
            isPort(words[4]), isPort(words[5]), !words[2].isEmpty, !words[3].isEmpty
        else { return .malformed }
        return .source(.text(String(decoding: words[2], as: UTF8.self)))
    }

    private static func isPort(_ digits: ArraySlice<UInt8>) -> Bool {
        guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit) else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - Byte.zero) } <= 65535
    }

    // MARK: Version 2

    private static func readBinary(_ buffer: inout ByteBuffer) -> Outcome {
        let fixed = signature.count
        let start = buffer.readerIndex
        guard let versionAndCommand = buffer.getInteger(at: start + fixed, as: UInt8.self),
            let family = buffer.getInteger(at: start + fixed + 1, as: UInt8.self),
            let length = buffer.getInteger(at: start + fixed + 2, as: UInt16.self)
        else { return .needMoreData }
        guard versionAndCommand >> 4 == 2, versionAndCommand & 0x0F <= 1, length <= maxBlock else { return .malformed }
        guard buffer.readableBytes >= fixed + 4 + Int(length) else { return .needMoreData }
        buffer.moveReaderIndex(forwardBy: fixed + 4)
        let block = buffer.readBytes(length: Int(length)) ?? []
        guard versionAndCommand & 0x0F == 1 else { return .source(.unnamed) }
        switch family {
        case 0x11: return block.count >= 12 ? .source(.bytes(Array(block.prefix(4)))) : .malformed
        case 0x21: return block.count >= 36 ? .source(.bytes(Array(block.prefix(16)))) : .malformed
        default: return .source(.unnamed)
        }
    }
}
