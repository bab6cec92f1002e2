import HTTPWire
import NIOCore

/// A body decoded to its end or to a refusal.
struct BodyOutcome: Equatable {
    var data: [UInt8] = []
    var isComplete = false
    var error: WireError.Code?
    var left = 0

    /// Decodes `bytes` in pieces of at most `step` bytes.
    init(_ framing: BodyFraming, _ bytes: [UInt8], step: Int = .max, maxSlice: Int = .max) {
        var decoder = BodyDecoder(framing)
        var buffer = ByteBuffer()
        var rest = bytes[...]
        while true {
            switch decoder.next(&buffer, maxSlice: maxSlice) {
            case .data(var piece): self.data += piece.readBytes(length: piece.readableBytes) ?? []
            case .end:
                self.isComplete = true
                self.left = buffer.readableBytes + rest.count
                return
            case .failed(let error):
                self.error = error.code
                return
            case .needMoreData:
                guard !rest.isEmpty else { return }
                buffer.writeBytes(rest.prefix(step))
                rest = rest.dropFirst(step)
            }
        }
    }
}
