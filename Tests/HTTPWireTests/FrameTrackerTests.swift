import HTTPWire
import NIOCore
import Testing

@Suite("A frame tracker")
struct FrameTrackerTests {
    /// A stream and where its frames end.
    private func stream() -> (bytes: [UInt8], ends: Set<Int>) {
        let frames = [
            ClientFrame(0x1, text: "hello"), ClientFrame(0x1, isMasked: false),
            ClientFrame(0x2, Array(repeating: 1, count: 300)),
            ClientFrame(0x2, Array(repeating: 2, count: 66_000), final: false, isMasked: false),
            ClientFrame(0x0, [1], reserved: 4),
            ClientFrame(0x9), close(1000),
        ]
        var bytes: [UInt8] = []
        var ends: Set<Int> = []
        for frame in frames {
            bytes += frame.bytes
            ends.insert(bytes.count)
        }
        return (bytes, ends)
    }

    @Test("finds exactly the boundaries of frames", arguments: [1, 2, 3, 5, 64, 1000])
    func borders(step: Int) throws {
        let (bytes, ends) = stream()
        var tracker = FrameTracker()
        var position = 0
        #expect(tracker.isAtBoundary)
        while position < bytes.count {
            let piece = bytes[position..<min(position + step, bytes.count)]
            let progress = try tracker.advance(over: ByteBuffer(bytes: piece)).get()
            #expect(progress.consumed == piece.count)
            position += piece.count
            #expect(tracker.isAtBoundary == ends.contains(position))
            #expect(progress.isAtBoundary == tracker.isAtBoundary)
            #expect(tracker.hasSeenClose == (position == bytes.count))
        }
    }

    @Test("stops at the end of the current frame") func stops() throws {
        var tracker = FrameTracker()
        let frame = ClientFrame(0x1, text: "hello").bytes
        _ = try tracker.advance(over: ByteBuffer(bytes: frame.prefix(4))).get()
        let rest = ByteBuffer(bytes: frame.dropFirst(4) + frame)
        let progress = try tracker.advanceToBoundary(over: rest).get()
        #expect(progress.consumed == frame.count - 4 && progress.isAtBoundary)
        #expect(try tracker.advanceToBoundary(over: rest).get().consumed == 0)
    }

    @Test("refuses an impossible length, and everything after it", arguments: [UInt64(1) << 63, .max])
    func impossibleLength(length: UInt64) {
        var tracker = FrameTracker()
        let bytes = ByteBuffer(bytes: ClientFrame(0x2, extended: 8, claimedLength: length).bytes)
        #expect(tracker.advance(over: bytes) == .failure(.protocolError))
        #expect(!tracker.isAtBoundary)
        #expect(tracker.advance(over: ByteBuffer(bytes: [0x81, 0])) == .failure(.protocolError))
    }

    @Test("accepts the largest possible length") func largestLength() throws {
        var tracker = FrameTracker()
        let bytes = ByteBuffer(bytes: ClientFrame(0x2, [1, 2], extended: 8, claimedLength: UInt64(Int64.max)).bytes)
        #expect(try !tracker.advance(over: bytes).get().isAtBoundary)
        #expect(try !tracker.advance(over: bytes).get().isAtBoundary)
    }
}
