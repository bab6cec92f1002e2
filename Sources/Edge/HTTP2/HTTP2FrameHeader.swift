import NIOCore

/// The header of one HTTP/2 frame (RFC 9113 section 4.1).
struct HTTP2FrameHeader {
    /// How long every header is, in bytes.
    static let size = 9

    /// The types that are told apart (RFC 9113 section 6).
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
    }

    /// How many bytes of payload follow.
    var length: Int
    /// One of ``Kind``, or another type that is only passed on.
    var kind: UInt8
    /// As they were sent; which of them mean anything depends on the type.
    var flags: UInt8
    /// The number of the stream; 0 for the connection.
    var stream: UInt32

    /// END_STREAM, of DATA and HEADERS.
    var endsStream: Bool { flags & 1 != 0 }
    /// ACK, of SETTINGS.
    var isAcknowledgement: Bool { flags & 1 != 0 }
    /// END_HEADERS, of HEADERS.
    var endsHead: Bool { flags & 4 != 0 }
    /// PADDED, of HEADERS and DATA.
    var isPadded: Bool { flags & 8 != 0 }
    /// PRIORITY, of HEADERS.
    var hasPriority: Bool { flags & 0x20 != 0 }

    /// Nil for fewer than ``size`` bytes.
    init?(_ bytes: ByteBuffer) {
        let start = bytes.readerIndex
        guard let lengthAndKind = bytes.getInteger(at: start, as: UInt32.self),
            let flags = bytes.getInteger(at: start + 4, as: UInt8.self),
            let stream = bytes.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        self.length = Int(lengthAndKind >> 8)
        self.kind = UInt8(truncatingIfNeeded: lengthAndKind)
        self.flags = flags
        self.stream = stream & 0x7fff_ffff
    }
}
