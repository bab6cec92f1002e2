import NIOCore
import NIOEmbedded
import Testing

@testable import Edge

/// A goodbye counts for the fault that is reported right behind it.
@Suite struct GoodbyeWatchTests {
    private static let goodbye: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1]

    @Test("Only the last piece written counts, whatever was written before")
    func last() throws {
        let watch = GoodbyeWatch()
        let channel = EmbeddedChannel(handler: watch)
        let reset: [UInt8] = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 1]
        let longer = Self.goodbye + [0]
        let pieces: [(bytes: [UInt8], isSaid: Bool)] = [
            (reset, false), (Self.goodbye, true), (reset, false), (longer, false), (Self.goodbye, true),
        ]
        for piece in pieces {
            _ = try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(bytes: piece.bytes)))
            #expect(watch.isSaid == piece.isSaid)
        }
    }
}
