import HTTPWire
import NIOCore

/// Reads an upstream's answer from its bytes: interim heads, the head, the body in parts, and whether it was complete.
package struct AnswerReader {
    /// What the reader has found.
    package enum Step {
        /// More bytes are needed.
        case wait
        case interim(ResponseHead)
        case start(ResponseHead)
        case part(ByteBuffer)
        /// The answer is complete.
        case end
        /// The upstream closed before the answer was complete.
        case cut
        /// The bytes are not an HTTP answer.
        case malformed
        /// A `101` that was asked for: the bytes after the head are not HTTP.
        case switched(ResponseHead)
        /// A `101` that was not asked for, or too many interim answers.
        case unexpected
    }

    private enum Phase {
        case head
        /// The head has been read but not passed on: whether the announced body follows is not known yet.
        case held(ResponseHead)
        case body
    }

    /// The longest part of a body that is passed on at once, in bytes.
    package static let maxPart = 64 * 1024
    /// How many interim answers a request may get.
    private static let maxInterim = 16

    private let requestWasHead: Bool
    private let expectsSwitch: Bool
    private var phase = Phase.head
    private var inbound = ByteBuffer()
    private var scanner = ResponseScanner()
    private var decoder = BodyDecoder(.none)
    private var framing = BodyFraming.none
    private var interimCount = 0
    /// The first part of the body, which was read before the head was passed on.
    private var firstPart: ByteBuffer?
    private var isWhole = false
    private var isBroken = false

    /// Whether anything has arrived.
    package private(set) var hasBegun = false
    /// Whether all bytes of this turn of the loop have arrived.
    package private(set) var isBurstOver = true
    /// Whether the upstream has closed its side.
    package private(set) var isUpstreamOver = false
    /// The head; nil until it has been read.
    package private(set) var head: ResponseHead?

    /// - Parameter requestWasHead: whether the request was a HEAD, so that no body follows regardless of the answer's
    ///   head.
    /// - Parameter expectsSwitch: whether the request asked for `101 Switching Protocols`.
    package init(requestWasHead: Bool, expectsSwitch: Bool = false) {
        self.requestWasHead = requestWasHead
        self.expectsSwitch = expectsSwitch
    }

    /// Whether there are bytes that have not been read yet.
    package var hasMore: Bool { inbound.readableBytes > 0 }
    /// Whether a part waits to be passed on.
    package var holdsPart: Bool { firstPart != nil }
    /// Whether the head was passed on.
    package var hasStarted: Bool {
        if case .body = phase { true } else { false }
    }

    /// Bytes have arrived.
    package mutating func received(_ bytes: ByteBuffer) {
        isBurstOver = false
        hasBegun = true
        if inbound.readableBytes == 0 {
            inbound = bytes
        } else {
            inbound.writeImmutableBuffer(bytes)
        }
    }

    /// All bytes of this turn of the loop have arrived.
    package mutating func receivedAll() { isBurstOver = true }

    /// Takes the bytes that have arrived after the head of a `101`.
    package mutating func takeRest() -> ByteBuffer {
        let rest = inbound
        inbound = ByteBuffer()
        return rest
    }

    /// The upstream has closed its side; `isBroken` when by a fault.
    package mutating func closed(isBroken: Bool) {
        isBurstOver = true
        isUpstreamOver = true
        self.isBroken = isBroken
    }

    /// The next step. Parts are taken only where `takesBody`; the rest of a body waits.
    package mutating func next(takesBody: Bool) -> Step {
        switch phase {
        case .head: readHead()
        case .held(let head): start(head)
        case .body: readBody(takesBody)
        }
    }

    private mutating func readHead() -> Step {
        guard inbound.readableBytes > 0 else { return .wait }
        switch scanner.feed(&inbound, requestWasHead: requestWasHead) {
        case .needMoreData: return .wait
        case .failed: return .malformed
        case .head(let head) where head.status == 101 && expectsSwitch:
            self.head = head
            return .switched(head)
        case .head(let head) where head.status < 200:
            interimCount += 1
            return head.status == 101 || interimCount > Self.maxInterim ? .unexpected : .interim(head)
        case .head(let head):
            self.head = head
            phase = .held(head)
            decoder = BodyDecoder(head.framing)
            framing = head.framing
            return start(head)
        }
    }

    /// Passes the head on once the beginning of the body is known to be valid. Until then a fault of the body can still
    /// be answered with a problem.
    private mutating func start(_ head: ResponseHead) -> Step {
        switch decoder.next(&inbound, maxSlice: Self.maxPart) {
        case .data(let part): firstPart = part
        case .end: isWhole = true
        case .failed: return .malformed
        case .needMoreData:
            if isUpstreamOver, !endsInOrder { return .cut }
            guard isBurstOver else { return .wait }
        }
        phase = .body
        return .start(head)
    }

    private mutating func readBody(_ takesBody: Bool) -> Step {
        if isWhole { return .end }
        guard takesBody else { return .wait }
        if let part = firstPart.take() { return .part(part) }
        switch decoder.next(&inbound, maxSlice: Self.maxPart) {
        case .data(let part): return .part(part)
        case .end:
            isWhole = true
            return .end
        case .failed: return .malformed
        case .needMoreData:
            guard isUpstreamOver else { return .wait }
            // The client must be able to tell when the answer is not whole.
            return endsInOrder ? .end : .cut
        }
    }

    private var endsInOrder: Bool {
        if case .untilClose = framing { !isBroken } else { false }
    }
}
