import NIOCore
import NIOPosix
import Synchronization

/// The suite's own upstream: it answers every request with 200 and records what it received.
final class RecordingUpstream: Sendable {
    /// The number of requests that are kept, of which the oldest are dropped first, and the bytes kept of each.
    private static let requestLimit = 4_096
    private static let byteLimit = 64 * 1_024

    /// The latest requests, as they came.
    fileprivate final class Record: Sendable {
        private let requests = Mutex<[[UInt8]]>([])

        /// Keeps a request, in place of the oldest ones when there are too many.
        func add(_ request: [UInt8]) {
            requests.withLock { requests in
                if requests.count >= RecordingUpstream.requestLimit { requests.removeFirst(requests.count / 2) }
                requests.append(Array(request.prefix(RecordingUpstream.byteLimit)))
            }
        }

        /// The requests with this text in their first line.
        func with(_ text: [UInt8]) -> [[UInt8]] {
            requests.withLock { requests in
                requests.filter { request in
                    // Only in the request line: a text in a body has not become a request of its own.
                    let line = request.prefix { $0 != 0x0A }
                    return line.firstRange(of: text) != nil
                }
            }
        }
    }

    private let channel: any Channel
    private let record: Record

    private init(_ channel: any Channel, _ record: Record) {
        self.channel = channel
        self.record = record
    }

    /// Listens on the address. Throws where that is not possible.
    static func open(host: String, port: Int) async throws(CommandFailure) -> RecordingUpstream {
        let record = Record()
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(UpstreamHandler(record))
                    }
                }
                .bind(host: host, port: port).get()
            return RecordingUpstream(channel, record)
        } catch {
            throw CommandFailure(
                "\(host):\(port): the suite's own upstream can't listen there: is the port free?", status: .misused)
        }
    }

    /// The recorded requests with this text in the request line.
    func requests(with text: String) -> [[UInt8]] {
        record.with(Array(text.utf8))
    }

    /// Stops listening.
    func close() async {
        try? await channel.close()
    }
}

/// Parses requests leniently, as some upstreams do: a transfer coding that contains `chunked` takes precedence over a
/// length.
private final class UpstreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The most bytes of requests that may wait to be complete on a connection.
    private static let limit = 1 << 20
    private let record: RecordingUpstream.Record
    /// What has come and is not part of a complete request yet.
    private var bytes: [UInt8] = []

    init(_ record: RecordingUpstream.Record) {
        self.record = record
    }

    /// Records and answers each request that is complete. A connection that sends more than the limit is closed.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        guard bytes.count <= Self.limit else {
            context.close(promise: nil)
            return
        }
        // All that has come is recorded before anything is answered: the suite may look as soon as it has an answer.
        var answers: [UpstreamAnswer] = []
        while answers.last?.closes != true, let count = requestLength() {
            let request = Array(bytes.prefix(count))
            record.add(request)
            bytes.removeFirst(count)
            answers.append(UpstreamAnswer(to: request))
        }
        for answer in answers {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer.text)), promise: nil)
            if answer.closes { context.close(promise: nil) }
        }
    }

    /// The length of the first request in bytes; nil while it is not complete.
    private func requestLength() -> Int? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        if head.contains("transfer-encoding"), head.contains("chunked") {
            // A body of one last chunk ends at an empty line, whatever stands behind its size, a line feed alone
            // included.
            let ending = bytes[end.upperBound...].first == UInt8(ascii: "0") ? "\n\r\n" : "0\r\n\r\n"
            return bytes[end.upperBound...].firstRange(of: Array(ending.utf8))?.upperBound
        }
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        let digits = line.map { $0.dropFirst(15).drop { !$0.isNumber }.prefix { $0.isNumber } } ?? ""
        let (total, overflow) = end.upperBound.addingReportingOverflow(Int(digits) ?? 0)
        return !overflow && bytes.count >= total ? total : nil
    }

    /// Closes a connection that has failed.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
