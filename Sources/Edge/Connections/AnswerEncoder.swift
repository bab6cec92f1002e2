import EdgeCore
import HTTPWire
import NIOCore

/// Frames one answer as HTTP/1.1. Returns the bytes to be written, in order.
struct AnswerEncoder {
    /// Up to four pieces; most answers have one.
    struct Pieces {
        var first: ByteBuffer?
        var second: ByteBuffer?
        var third: ByteBuffer?
        var fourth: ByteBuffer?
    }

    /// A body up to this size, in bytes, is written in one piece with its head.
    private static let smallBody = 16 * 1024

    private var isChunked = false
    private var hasLength = false
    private var hasBody = false
    /// The head that has not been written yet: a small body is written in the same piece.
    private var head: ByteBuffer?

    /// Begins an answer. Its head is written with the next piece.
    ///
    /// - Parameters:
    ///   - lines: status line and fields, without those that frame the body.
    ///   - more: further fields.
    mutating func start(_ lines: consuming ByteBuffer, more: AnswerFields?, _ terms: ConnectionMachine.AnswerTerms) {
        var out = lines
        isChunked = false
        hasLength = false
        hasBody = terms.framing != .none
        switch terms.framing {
        case .none: break
        case .length(let count):
            hasLength = true
            HeadWriter.field("Content-Length", count, to: &out)
        case .stream:
            if !terms.isVersion10 {
                isChunked = !terms.isHead
                out.writeStaticString("Transfer-Encoding: chunked\r\n")
            }
        }
        if let more { out.writeImmutableBuffer(more.lines) }
        if terms.closes {
            out.writeStaticString("Connection: close\r\n")
        } else if terms.isVersion10 {
            out.writeStaticString("Connection: keep-alive\r\n")
        }
        out.writeStaticString("\r\n")
        head = out
    }

    /// A part of the body; no pieces where the answer has no body.
    mutating func body(_ bytes: ByteBuffer) -> Pieces {
        guard hasBody else { return Pieces() }
        guard isChunked else {
            guard var head = head.take() else { return Pieces(first: bytes) }
            guard hasLength, bytes.readableBytes <= Self.smallBody else { return Pieces(first: head, second: bytes) }
            head.writeImmutableBuffer(bytes)
            return Pieces(first: head)
        }
        var size = ByteBuffer()
        HeadWriter.chunkHeader(length: bytes.readableBytes, to: &size)
        if let head = head.take() {
            return Pieces(first: head, second: size, third: bytes, fourth: HeadWriter.chunkEnd)
        }
        return Pieces(first: size, second: bytes, third: HeadWriter.chunkEnd)
    }

    /// Takes the head that is still held, before a flush.
    mutating func heldHead() -> ByteBuffer? { head.take() }

    /// The end of the answer.
    mutating func end() -> Pieces {
        let held = head.take()
        guard isChunked else { return Pieces(first: held) }
        isChunked = false
        return held == nil ? Pieces(first: HeadWriter.lastChunk) : Pieces(first: held, second: HeadWriter.lastChunk)
    }
}
