import HTTPWire
import NIOCore

/// Frames as a client sends them, valid or invalid.
struct ClientFrame {
    var first: UInt8
    var payload: [UInt8]
    var isMasked = true
    /// Writes the length in 2 or 8 bytes even if it needs fewer; the length may also be wrong.
    var extended: Int?
    var claimedLength: UInt64?

    init(
        _ opcode: UInt8, _ payload: [UInt8] = [], final: Bool = true, reserved: UInt8 = 0, isMasked: Bool = true,
        extended: Int? = nil, claimedLength: UInt64? = nil
    ) {
        self.first = (final ? 0x80 : 0) | reserved << 4 | opcode
        self.payload = payload
        self.isMasked = isMasked
        self.extended = extended
        self.claimedLength = claimedLength
    }

    init(_ opcode: UInt8, text: String, final: Bool = true) { self.init(opcode, Array(text.utf8), final: final) }

    var bytes: [UInt8] {
        let key: [UInt8] = [0xA1, 0x02, 0x33, 0xF4]
        let length = claimedLength ?? UInt64(payload.count)
        let width = extended ?? (length < 126 ? 0 : length < 65536 ? 2 : 8)
        var bytes = [first, (isMasked ? 0x80 : 0) | (width == 0 ? UInt8(length) : width == 2 ? 126 : 127)]
        for index in 0..<width { bytes.append(UInt8(truncatingIfNeeded: length >> UInt64((width - 1 - index) * 8))) }
        if isMasked { bytes += key }
        bytes += payload.enumerated().map { isMasked ? $1 ^ key[$0 % 4] : $1 }
        return bytes
    }
}

/// All events of a decoder for a stream that arrives in pieces.
func events(_ bytes: [UInt8], step: Int = .max, maxMessage: Int = 1024, maxFragments: Int = 64) -> [FrameEvent] {
    var decoder = FrameDecoder(maxMessage: maxMessage, maxFragments: maxFragments)
    var buffer = ByteBuffer()
    var rest = bytes[...]
    var found: [FrameEvent] = []
    while true {
        let event = decoder.next(&buffer)
        if event != .needMoreData {
            found.append(event)
        } else if rest.isEmpty {
            return found
        } else {
            buffer.writeBytes(rest.prefix(step))
            rest = rest.dropFirst(step)
        }
    }
}

func close(_ code: UInt16, _ reason: [UInt8] = []) -> ClientFrame {
    ClientFrame(0x8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
}
