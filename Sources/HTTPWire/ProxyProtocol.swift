import NIOCore

/// The header by which a balancer in front of us says whom a connection comes from: PROXY protocol, versions 1 and 2.
///
/// Pure and strict: what is neither version's header is malformed, and nobody guesses.
package enum ProxyProtocol {
    /// Whom the connection comes from.
    package enum Source: Sendable, Equatable {
        /// The balancer itself, or somebody it can't name.
        case unnamed
        /// An address as version 1 writes it; not yet known to be one.
        case text(String)
        /// The 4 or 16 bytes of an address.
        case bytes([UInt8])
    }

    package enum Outcome: Sendable, Equatable {
        case needMoreData
        case source(Source)
        case malformed
    }

    /// The longest line of version 1, its CRLF included.
    package static let maxLine = 107
    /// The most that version 2 may carry behind its fixed part: addresses and a few extensions.
    package static let maxBlock = 1024

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// Takes the header out of `buffer` when it is complete; what is left belongs to the client.
    package static func read(_ buffer: inout ByteBuffer) -> Outcome {
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
