import HTTPWire
import NIOCore

/// The properties that parsing must have for any input: the result does not depend on how the bytes are split, and
/// nothing is accepted that llhttp refuses or frames differently.
enum WireProperties: String, CaseIterable {
    case requests
    case responses
    case paths
    case frames

    /// The property that does not hold, in a few words, or nil. The first byte determines the size of the pieces.
    func violation(_ bytes: [UInt8]) -> String? {
        let step = Int(bytes.first ?? 0) % 9 + 1
        let rest = Array(bytes.dropFirst())
        return switch self {
        case .requests:
            Self.compare(
                FramedConnection.requests(rest), FramedConnection.requests(rest, step: step),
                Reference.requests(rest).messages, isComparable: Reference.knowsMethod)
        case .responses:
            Self.compare(
                FramedConnection.responses(rest).withoutInterim,
                FramedConnection.responses(rest, step: step).withoutInterim, Reference.responses(rest).messages,
                isComparable: { _ in true })
        case .paths: Self.path(rest)
        case .frames: Self.frames(rest, step: step)
        }
    }

    private static func compare(
        _ whole: FramedConnection, _ pieces: FramedConnection, _ reference: [FramedMessage],
        isComparable: (FramedMessage) -> Bool
    ) -> String? {
        guard whole == pieces else { return "read otherwise in pieces" }
        for (index, message) in whole.messages.enumerated() {
            guard isComparable(message) else { break }
            guard message.isComplete else { continue }
            guard index < reference.count, reference[index] == message else { return "framed otherwise than by llhttp" }
        }
        return nil
    }

    private static func path(_ bytes: [UInt8]) -> String? {
        guard let path = try? CanonicalPath(ByteBuffer(bytes: bytes), allowEncodedSlash: true) else { return nil }
        let again = try? CanonicalPath(path.bytes, allowEncodedSlash: true)
        return again?.bytes == path.bytes ? nil : "a canonical path that is not canonical"
    }

    private static func frames(_ bytes: [UInt8], step: Int) -> String? {
        var (whole, pieces) = (FrameTracker(), FrameTracker())
        let isSound = (try? whole.advance(over: ByteBuffer(bytes: bytes)).get()) != nil
        var staysSound = true
        for start in stride(from: 0, to: bytes.count, by: step) {
            let piece = ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)])
            if case .failure = pieces.advance(over: piece) { staysSound = false }
        }
        return isSound == staysSound && pieces.isAtBoundary == whole.isAtBoundary ? nil : "borders move with the pieces"
    }
}
