import HTTPWire
import LeasesForTests
import Logging
import NIOCore
import NIOEmbedded
import RandomForTests
import Testing

@testable import Answers
@testable import EdgeCore
@testable import Gate
@testable import Leases
@testable import Proxy

/// A client's connection as an exchange sees it: hands over the body as soon as it may, in the middle of whatever call
/// lets it.
private final class ClientModel: ResponseWriter {
    let channel: any Channel
    let deadlines = DeadlineWheel()
    lazy var exchangeDeadline = ConnectionDeadline(deadlines)
    var exchange: (any Exchange)?
    var arrived: [ByteBuffer] = []
    var hasEnded = false
    var hasToldEnd = false
    private var isPaused = false
    private var isProcessing = false
    private(set) var ending: String?
    private(set) var answer = ByteBuffer()

    init(_ channel: any Channel) { self.channel = channel }

    var eventLoop: any EventLoop { channel.eventLoop }
    var isClientWritable: Bool { true }
    var opensTunnelOnSuccess: Bool { false }
    var takesAnyBytes: Bool { true }
    var answerForm: AnswerFields.Form { .lines }
    var wasReset: Bool { false }
    var date: String { "Tue, 15 Nov 1994 08:12:31 GMT" }

    func pauseBody() { isPaused = true }
    func resumeBody() {
        guard isPaused else { return }
        isPaused = false
        process()
    }

    func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        while !isPaused, let exchange {
            if !arrived.isEmpty {
                exchange.received(body: arrived.removeFirst())
            } else if hasEnded, !hasToldEnd {
                hasToldEnd = true
                exchange.receivedEnd()
            } else {
                return
            }
        }
    }

    func startResponse(_ head: consuming AnswerHead, framing: ResponseFraming) {}
    func sendBody(_ bytes: ByteBuffer) { answer.writeImmutableBuffer(bytes) }
    func flushResponse() {}
    func finishResponse() { end("finish") }
    func abortResponse() { end("abort") }
    func sendInterim(_ head: AnswerHead, isContinue: Bool) {}
    func respond(_ problem: Problem) { end(problem.code.rawValue) }
    func switchProtocols(_ head: AnswerHead, first: ByteBuffer?, to tunnel: any Tunnel) {}
    func writeTunnel(_ bytes: ByteBuffer) {}
    func flushTunnel() {}
    func flushTunnelNow() {}

    private func end(_ word: String) {
        ending = ending ?? word
        exchange = nil
    }
}

/// Upstream connections without sockets.
private final class Upstreams {
    let loop: EmbeddedEventLoop
    private(set) var channels: [EmbeddedChannel] = []
    private var carried: [ObjectIdentifier: ByteBuffer] = [:]

    init(_ loop: EmbeddedEventLoop) { self.loop = loop }

    func dial(_ prepare: (any Channel) throws -> Void) -> EventLoopFuture<any Channel> {
        let channel = EmbeddedChannel(loop: loop)
        do {
            try prepare(channel)
            channel.connect(to: try SocketAddress(unixDomainSocketPath: "/u"), promise: nil)
        } catch {
            return loop.makeFailedFuture(error)
        }
        channels.append(channel)
        return loop.makeSucceededFuture(channel)
    }

    /// Everything that has been written to the connection.
    func sent(on channel: EmbeddedChannel) throws -> ByteBuffer {
        var bytes = carried[ObjectIdentifier(channel)] ?? ByteBuffer()
        while let part = try channel.readOutbound(as: ByteBuffer.self) { bytes.writeImmutableBuffer(part) }
        carried[ObjectIdentifier(channel)] = bytes
        return bytes
    }
}

/// The way of a request whose session is not in memory: the store is asked while the body arrives.
@Suite struct DeferredProxyTests {
    private static let count = 3_000

    private static func head(_ text: String) throws -> RequestHead {
        var buffer = ByteBuffer(string: text)
        var scanner = HeadScanner()
        guard case .head(let head) = scanner.feed(&buffer) else { throw ChannelError.eof }
        return head
    }

    private static func pool(
        _ loop: EmbeddedEventLoop, _ dial: @escaping ((any Channel) throws -> Void) -> EventLoopFuture<any Channel>
    ) throws -> UpstreamPool {
        UpstreamPool(
            loop: loop, flushes: FlushQueue(loop: loop), targets: [try #require(UpstreamTarget("http://127.0.0.1:1"))],
            tls: nil, connectTimeout: .seconds(1), dial: { _, prepare in dial(prepare) })
    }

    @Test("A body that arrives while the store is asked reaches the upstream whole, over a cold pool and a warm one")
    func schedules() throws {
        let loop = EmbeddedEventLoop()
        let upstreams = Upstreams(loop)
        let pool = try Self.pool(loop, upstreams.dial)
        let log = UpstreamLog(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { 0 })
        var reused = 0
        for seed in 0..<UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let isChunked = Bool.random(using: &random)
            let parts = (0..<Int.random(in: 1...4, using: &random)).map { "part \($0) of \(seed) " }
            let length = parts.reduce(0) { $0 + $1.utf8.count }
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
            let client = ClientModel(EmbeddedChannel(loop: loop))
            let head = "POST /\(seed) HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n"
            let exchange = ProxyExchange(
                writer: client, pool: pool, leases: LeaseTable(now: 0), log: log, request: try Self.head(head),
                terms: ProxyExchange.Terms(
                    head: ByteBuffer(string: head), timeout: .seconds(5), maxBody: nil, ownsCORS: false,
                    admission: Admission(.open(OpenRoute(.requiresNothing))), isLeased: false,
                    leaseBounds: LeaseBounds(clockSkew: 0, maxLifetime: 1_000), receivedAt: 0))
            let before = upstreams.channels.count
            let wasIdle = Set(upstreams.channels.filter(\.isActive).map(ObjectIdentifier.init))
            let carriedBefore = Dictionary(
                uniqueKeysWithValues: try upstreams.channels.filter(\.isActive).map {
                    (ObjectIdentifier($0), try upstreams.sent(on: $0).readableBytes)
                })
            // Store, body and end in any order.
            let deferred = DeferredExchange(writer: client)
            client.exchange = deferred
            var events = parts.map { part in { client.arrived.append(ByteBuffer(string: part)) } }
            events.append { client.hasEnded = true }
            events.insert({ deferred.resolve(exchange) }, at: Int.random(in: 0...events.count, using: &random))
            for event in events {
                event()
                if Bool.random(using: &random) { client.process() }
                if Bool.random(using: &random) { loop.run() }
            }
            client.process()
            loop.run()
            let channel = try #require(
                upstreams.channels.count > before
                    ? upstreams.channels.last
                    : upstreams.channels.first { wasIdle.contains(ObjectIdentifier($0)) })
            if upstreams.channels.count == before { reused += 1 }
            var sent = try upstreams.sent(on: channel)
            sent.moveReaderIndex(forwardBy: carriedBefore[ObjectIdentifier(channel)] ?? 0)
            #expect(try Self.body(of: &sent, after: head, isChunked) == parts.joined(), "seed \(seed)")
            try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
            channel.pipeline.fireChannelReadComplete()
            loop.run()
            #expect(client.ending == "finish" && client.answer == ByteBuffer(string: "ok"), "seed \(seed)")
            if seed % 3 == 0 { channel.close(promise: nil) }
            loop.run()
        }
        print("\(Self.count) schedules with a store in between, \(reused) of them on connections used before")
        #expect(reused > Self.count / 3 && reused < Self.count)
    }

    /// The body behind the head; nil where there is another head, or more than a body.
    private static func body(of sent: inout ByteBuffer, after head: String, _ isChunked: Bool) throws -> String? {
        guard sent.readString(length: head.utf8.count) == head else { return nil }
        guard isChunked else { return String(buffer: sent) }
        var decoder = BodyDecoder(.chunked)
        var body = ""
        while true {
            switch decoder.next(&sent) {
            case .data(let part): body += String(buffer: part)
            case .end: return sent.readableBytes == 0 ? body : nil
            case .needMoreData, .failed: return nil
            }
        }
    }

    @Test("An answer given instead of an exchange leaves the body of the next request where it is")
    func answered() throws {
        let loop = EmbeddedEventLoop()
        let client = ClientModel(EmbeddedChannel(loop: loop))
        let first = DeferredExchange(writer: client)
        // It is answered, and the next request has to wait for the store as well.
        let second = DeferredExchange(writer: client)
        client.exchange = second
        client.arrived = [ByteBuffer(string: "next")]
        first.resolve(nil)
        client.process()
        #expect(client.arrived.count == 1)
    }

    @Test("A body that has nowhere to go yet stops at the client, also when it arrived while the store was asked")
    func fullBeforeConnected() throws {
        let loop = EmbeddedEventLoop()
        let never = loop.makePromise(of: (any Channel).self)
        defer { never.fail(ChannelError.eof) }
        let pool = try Self.pool(loop) { _ in never.futureResult }
        let client = ClientModel(EmbeddedChannel(loop: loop))
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let exchange = ProxyExchange(
            writer: client, pool: pool, leases: LeaseTable(now: 0),
            log: UpstreamLog(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { 0 }),
            request: try Self.head(head),
            terms: ProxyExchange.Terms(
                head: ByteBuffer(string: head), timeout: .seconds(5), maxBody: nil, ownsCORS: false,
                admission: Admission(.open(OpenRoute(.requiresNothing))), isLeased: false,
                leaseBounds: LeaseBounds(clockSkew: 0, maxLifetime: 1_000), receivedAt: 0))
        let deferred = DeferredExchange(writer: client)
        client.exchange = deferred
        let part = ByteBuffer(repeating: 0x78, count: 40 * 1024)
        client.arrived = [part, part]
        deferred.resolve(exchange)
        client.arrived += [part, part, part]
        client.process()
        #expect(client.arrived.count == 3)
        exchange.clientGone()
    }

    /// Counts what it is told.
    private final class User: UpstreamUser {
        private(set) var received = 0
        private(set) var closes = 0
        var wantsUpstreamBytes: Bool { true }
        func upstreamReceived(_ bytes: ByteBuffer) { received += bytes.readableBytes }
        func upstreamReceivedAll() {}
        func upstreamBecameWritable() {}
        func upstreamClosed() { closes += 1 }
    }

    @Test(
        "What an upstream says before the request is sent is no answer to it, though bytes of the one before are sent",
        arguments: [true, false])
    func unasked(asks: Bool) throws {
        let loop = EmbeddedEventLoop()
        let upstreams = Upstreams(loop)
        let pool = try Self.pool(loop, upstreams.dial)
        var connected: UpstreamConnection?
        pool.connect(0).assumeIsolated().whenSuccess { connected = $0 }
        let connection = try #require(connected)
        let (first, second) = (User(), User())
        connection.lend(to: first)
        connection.write(ByteBuffer(string: "0\r\n\r\n"))
        connection.flush()
        connection.release(clean: true)
        #expect(pool.takeIdle(0, .any) === connection)
        connection.lend(to: second)
        if asks { connection.flush() }
        loop.run()
        try upstreams.channels[0].writeInbound(ByteBuffer(string: "HTTP/1.1 200 X\r\n\r\n"))
        #expect(second.closes == (asks ? 0 : 1) && (second.received > 0) == asks)
    }

    @Test("Idle connections are closed by time, and one that is too old is not lent")
    func idleTime() throws {
        let loop = EmbeddedEventLoop()
        let upstreams = Upstreams(loop)
        let pool = try Self.pool(loop, upstreams.dial)
        var connected: UpstreamConnection?
        pool.connect(0).assumeIsolated().whenSuccess { connected = $0 }
        let made = try #require(connected)
        pool.giveBack(made)
        loop.advanceTime(by: .seconds(2))
        #expect(pool.takeIdle(0, .recent) == nil, "a request that can't be repeated takes no old connection")
        let taken = try #require(pool.takeIdle(0, .any))
        #expect(taken === made)
        pool.giveBack(taken)
        #expect(pool.takeIdle(0, .recent) === made)
        pool.giveBack(made)
        loop.advanceTime(by: UpstreamPool.maxIdleTime - .seconds(1))
        #expect(upstreams.channels[0].isActive)
        loop.advanceTime(by: .seconds(6))
        #expect(!upstreams.channels[0].isActive)
        #expect(pool.takeIdle(0, .any) == nil)
    }
}
