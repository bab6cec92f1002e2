import NIOCore
import NIOPosix
import Testing

@testable import EdgeCore

/// The short way to a socket keeps the order of what is written, and loses nothing.
@Suite(.timeLimit(.minutes(1))) struct DirectWriterTests {
    /// Writes what a test tells it to.
    private final class Writing: ChannelInboundHandler, DirectWriter {
        typealias InboundIn = ByteBuffer

        var output: DirectOutput
        private var context: ChannelHandlerContext?

        init(isPlain: Bool) { self.output = DirectOutput(isPlain: isPlain) }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func add(_ bytes: [UInt8]) {
            if let context { write(ByteBuffer(bytes: bytes), to: context) }
        }

        func flush() {
            if let context { flushOutput(context) }
        }
    }

    /// Stands between the writer and the socket: counts what comes by, and turns its bits over where it is told to.
    private final class Between: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let flips: Bool
        private(set) var passed = 0

        init(flips: Bool) { self.flips = flips }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let bytes = unwrapOutboundIn(data)
            passed += bytes.readableBytes
            let out = flips ? ByteBuffer(bytes: bytes.readableBytesView.map { ~$0 }) : bytes
            context.write(wrapOutboundOut(out), promise: promise)
        }
    }

    /// Hands on what arrives.
    private final class Listening: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let heard: AsyncStream<[UInt8]>.Continuation

        init(_ heard: AsyncStream<[UInt8]>.Continuation) { self.heard = heard }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            heard.yield(Array(unwrapInboundIn(data).readableBytesView))
        }

        func channelInactive(context: ChannelHandlerContext) {
            heard.finish()
            context.fireChannelInactive()
        }
    }

    /// How the writer and its channel stand after a step.
    private struct Standing: Sendable, Equatable {
        /// How many bytes have been written through SwiftNIO so far.
        var passed: Int
        var isBusy: Bool
    }

    private struct NoConnection: Error {}

    /// Two ends of a connection over loopback. The one that listens reads nothing before it is told to.
    private struct Line {
        private let listener: any Channel
        private let near: any Channel
        private let far: any Channel
        private let heard: AsyncStream<[UInt8]>

        init(isPlain: Bool, flips: Bool = false) async throws {
            let group = MultiThreadedEventLoopGroup.singleton
            let (heard, told) = AsyncStream.makeStream(of: [UInt8].self)
            let (accepted, accepting) = AsyncStream.makeStream(of: (any Channel).self)
            let listener = try await ServerBootstrap(group: group)
                .childChannelOption(ChannelOptions.autoRead, value: false)
                .childChannelInitializer { channel in
                    accepting.yield(channel)
                    return channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Listening(told))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let address = try #require(listener.localAddress)
            let room = ChannelOptions.Types.SocketOption(level: .socket, name: .so_sndbuf)
            let near = try await ClientBootstrap(group: group)
                .channelOption(room, value: 16 * 1024)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Between(flips: flips))
                        try channel.pipeline.syncOperations.addHandler(Writing(isPlain: isPlain))
                    }
                }
                .connect(to: address).get()
            var iterator = accepted.makeAsyncIterator()
            guard let far = await iterator.next() else { throw NoConnection() }
            self.listener = listener
            self.near = near
            self.far = far
            self.heard = heard
        }

        /// Writes each piece, and flushes behind the last.
        func send(_ pieces: [UInt8]...) async throws -> Standing {
            let channel = near
            return try await channel.eventLoop.submit { () throws -> Standing in
                let operations = channel.pipeline.syncOperations
                let writer = try operations.handler(type: Writing.self)
                for piece in pieces { writer.add(piece) }
                writer.flush()
                let passed = try operations.handler(type: Between.self).passed
                return Standing(passed: passed, isBusy: writer.output.isChannelBusy)
            }.get()
        }

        /// Writes pieces without flushing them, then tells the peer that nothing more comes.
        func end(after pieces: [UInt8]...) async throws -> Bool {
            let channel = near
            return try await channel.eventLoop.submit { () throws -> Bool in
                let writer = try channel.pipeline.syncOperations.handler(type: Writing.self)
                for piece in pieces { writer.add(piece) }
                return writer.output.endSending(on: channel)
            }.get()
        }

        func beginToRead() async throws { try await far.setOption(ChannelOptions.autoRead, value: true).get() }

        /// At least so many of the bytes that have arrived since the last time; fewer when the connection has ended.
        func read(_ count: Int) async -> [UInt8] {
            var bytes: [UInt8] = []
            guard count > 0 else { return bytes }
            for await part in heard {
                bytes += part
                if bytes.count >= count { break }
            }
            return bytes
        }

        func close() async throws {
            // A peer that was told the end has closed its own side.
            try? await near.close().get()
            try await listener.close().get()
        }
    }

    @Test("One piece goes to the socket itself, but for the first of a connection, for which finding it does not pay")
    func onePiece() async throws {
        let line = try await Line(isPlain: true)
        try await line.beginToRead()
        for value in [1, 2, 3] as [UInt8] {
            #expect(try await line.send([value, 0]) == Standing(passed: 2, isBusy: false))
            #expect(await line.read(2) == [value, 0])
        }
        try await line.close()
    }

    @Test("Of several pieces none overtakes another, and the next one goes the short way again")
    func pieces() async throws {
        let line = try await Line(isPlain: true)
        try await line.beginToRead()
        #expect(try await line.send([1, 2], [3], [4, 5, 6]) == Standing(passed: 6, isBusy: false))
        #expect(await line.read(6) == [1, 2, 3, 4, 5, 6])
        #expect(try await line.send([7]) == Standing(passed: 6, isBusy: false))
        #expect(try await line.send() == Standing(passed: 6, isBusy: false))
        #expect(await line.read(1) == [7])
        try await line.close()
    }

    @Test("What the socket does not take at once arrives whole, with everything behind it in order")
    func large() async throws {
        let line = try await Line(isPlain: true)
        // A length that no size of a buffer divides: a part that is lost or moved would show.
        let block = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 % 251) }
        var sent: [UInt8] = []
        while sent.count < 8 << 20 { sent += block }
        #expect(try await line.send([0]) == Standing(passed: 1, isBusy: false))
        let first = try await line.send(sent)
        #expect(first.isBusy && first.passed > 1 && first.passed < sent.count)
        sent.insert(0, at: 0)
        let tail: [UInt8] = [1, 2, 3]
        for byte in tail {
            let next = try await line.send([byte])
            #expect(next.isBusy, "the peer has not read yet")
        }
        sent += tail

        try await line.beginToRead()
        let heard = await line.read(sent.count)
        let isWhole = heard == sent
        #expect(isWhole, "\(heard.count) of \(sent.count) bytes")
        // The writer learns at its next flush that the channel is through; from then on it needs it no more.
        let usual = try await line.send([4])
        #expect(usual == Standing(passed: first.passed + tail.count + 1, isBusy: false))
        #expect(try await line.send([5]) == usual)
        #expect(await line.read(2) == [4, 5])
        try await line.close()
    }

    @Test("Where a handler changes the bytes, all of them go through it")
    func changed() async throws {
        let line = try await Line(isPlain: false, flips: true)
        try await line.beginToRead()
        #expect(try await line.send([1]).passed == 1)
        #expect(try await line.send([2], [3]).passed == 3)
        #expect(await line.read(3) == [~1, ~2, ~3])
        try await line.close()
    }

    @Test("The peer is told that nothing more comes, unless bytes wait or are changed", arguments: [true, false])
    func end(isPlain: Bool) async throws {
        let line = try await Line(isPlain: isPlain)
        try await line.beginToRead()
        #expect(try await line.end(after: [1]) == false, "a piece waits")
        _ = try await line.send([2])
        #expect(await line.read(2) == [1, 2])
        #expect(try await line.end() == isPlain)
        if isPlain { #expect(await line.read(1).isEmpty, "the connection has ended") }
        try await line.close()
    }
}
