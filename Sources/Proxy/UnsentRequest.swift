import HTTPWire
import NIOCore

/// The part of one request that has not been sent to the upstream yet: its head, its body in pieces, and the end of a
/// chunked body.
///
/// The pieces are sent in the order in which they came, after the head. While there is no connection they wait here.
package struct UnsentRequest {
    /// What to send.
    package enum Action {
        /// The head, which the caller has.
        case sendHead
        /// A piece of the body without its framing; the connection adds the size of a chunk.
        case sendBody(ByteBuffer)
        /// The last chunk.
        case sendEnd
        /// Hand it to the kernel: everything that has come was given out.
        case flush
    }

    private let isChunked: Bool
    private var pieces: [ByteBuffer] = []
    private var nextPiece = 0
    private var isHeadSent = false
    private var isEndSent = false
    private var needsFlush = false
    /// How many bytes of the body wait here. ``ProxyMachine`` pauses the client when there are more than 64 KiB.
    package private(set) var heldBytes = 0
    /// Whether any part of the body has been sent: then the request can't be sent again.
    package private(set) var hasSentBody = false
    /// Whether the client has sent the whole request.
    package private(set) var isComplete: Bool

    /// - Parameter framing: how the body is framed, towards the upstream as from the client.
    package init(framing: BodyFraming) {
        isChunked = framing == .chunked
        isComplete = framing == .none
    }

    /// Whether the whole request has been sent.
    package var isSent: Bool { isComplete && isEndSent && nextPiece == pieces.count }

    /// Adds a piece of the body.
    package mutating func add(_ piece: ByteBuffer) {
        pieces.append(piece)
        heldBytes += piece.readableBytes
    }

    /// The client has sent the whole body.
    package mutating func complete() { isComplete = true }

    /// Starts again, after the connection was lost. Must not be called once a part of the body was sent.
    package mutating func restart() {
        isHeadSent = false
        isEndSent = false
        needsFlush = false
    }

    /// Drops the rest of the body, after the upstream's connection has gone.
    package mutating func drop() {
        pieces = []
        nextPiece = 0
        heldBytes = 0
    }

    /// The next thing to send; nil when everything that has come was sent. The head first, then the pieces in their
    /// order, the last chunk, and a flush.
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
