import HTTPWire
import NIOCore

/// What an upstream has yet to be given of one request: its head, its body in pieces, and the end of a chunked body.
///
/// A piece leaves in the order in which it came, and only behind the head. What has arrived waits here for as long as
/// there is no connection.
package struct OwedRequest {
    package enum Action {
        case sendHead
        case sendBody(ByteBuffer)
        /// The last chunk.
        case sendEnd
        case flush
    }

    private let isChunked: Bool
    private var pieces: [ByteBuffer] = []
    private var nextPiece = 0
    private var isHeadSent = false
    private var isEndSent = false
    private var needsFlush = false
    /// How many bytes of the body wait here.
    package private(set) var heldBytes = 0
    /// Whether anything of the body has been sent: then the request can't be sent again.
    package private(set) var hasSentBody = false
    /// Whether the client has sent the whole request.
    package private(set) var isComplete: Bool

    /// - Parameter framing: how the body is framed, towards the upstream as from the client.
    package init(framing: BodyFraming) {
        isChunked = framing == .chunked
        isComplete = framing == .none
    }

    /// Whether the upstream has been given all of it.
    package var isPaid: Bool { isComplete && isEndSent && nextPiece == pieces.count }

    package mutating func add(_ piece: ByteBuffer) {
        pieces.append(piece)
        heldBytes += piece.readableBytes
    }

    /// The client has sent the last of the body.
    package mutating func complete() { isComplete = true }

    /// What has been sent was lost with its connection. Must not be called once a part of the body was sent.
    package mutating func restart() {
        isHeadSent = false
        isEndSent = false
        needsFlush = false
    }

    /// The upstream's connection is gone, and what is left of the body with it.
    package mutating func drop() {
        pieces = []
        nextPiece = 0
        heldBytes = 0
    }

    /// The next thing to give to the upstream; nil when all that has come was given.
    package mutating func next() -> Action? {
        if !isHeadSent {
            isHeadSent = true
            needsFlush = true
            return .sendHead
        }
        if let piece = takePiece() {
            hasSentBody = true
            needsFlush = true
            return .sendBody(piece)
        }
        if isComplete, !isEndSent {
            isEndSent = true
            if isChunked {
                needsFlush = true
                return .sendEnd
            }
        }
        guard needsFlush else { return nil }
        needsFlush = false
        return .flush
    }

    private mutating func takePiece() -> ByteBuffer? {
        guard nextPiece < pieces.count else { return nil }
        let piece = pieces[nextPiece]
        heldBytes -= piece.readableBytes
        nextPiece += 1
        if nextPiece == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            nextPiece = 0
        }
        return piece
    }
}
