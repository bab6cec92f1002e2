import EdgeConfiguration
import NIOCore

/// One check of an upstream: a request on a connection of its own, of whose answer only the status counts.
final class HealthProbe: UpstreamUser {
    /// The most bytes of an answer that are read before its status is known. Interim answers may come before it.
    private static let longest = 8 * 1024

    private let terms: RouteConfiguration.Health
    private let finished: (_ passed: Bool?) -> Void
    private let left: () -> Void
    private var connection: UpstreamConnection?
    private var received = ByteBuffer()
    private var limit: Scheduled<Void>?
    private var isOver = false

    /// - Parameters:
    ///   - left: told once that there is no connection any more, and none is being made.
    ///   - finished: told of the result, once; nil where the gateway itself could not ask.
    init(
        _ terms: RouteConfiguration.Health, left: @escaping () -> Void, finished: @escaping (_ passed: Bool?) -> Void
    ) {
        self.terms = terms
        self.left = left
        self.finished = finished
    }

    /// Connects and asks.
    func start(_ member: Int, of pool: UpstreamPool, on loop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        limit = loop.scheduleTask(in: .milliseconds(terms.timeout)) { bound.value.finish(false) }
        let host = pool.target(member).authority
        pool.connect(member).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let connection): self.ask(connection, host: host)
            case .failure(let error):
                self.left()
                self.finish(UpstreamFault(connecting: error).isUpstreams ? false : nil)
            }
        }
    }

    private func ask(_ connection: UpstreamConnection, host: String) {
        connection.lend(to: self)
        // The time was over before there was a connection.
        guard !isOver else { return leave(connection) }
        self.connection = connection
        var head = ByteBuffer()
        head.writeString("GET \(terms.path) HTTP/1.1\r\nHost: \(host)\r\n")
        head.writeStaticString("User-Agent: gatehouse\r\nAccept: */*\r\nConnection: close\r\n\r\n")
        connection.write(head)
        connection.flush()
    }

    var wantsUpstreamBytes: Bool { true }

    func upstreamReceived(_ bytes: ByteBuffer) {
        received.writeImmutableBuffer(bytes)
        if let status = Self.status(in: received) {
            finish(terms.status.contains { $0.codes.contains(status) })
        } else if received.readableBytes > Self.longest {
            finish(false)
        }
    }

    func upstreamReceivedAll() {}
    func upstreamBecameWritable() {}
    func upstreamClosed() { finish(false) }

    private func finish(_ passed: Bool?) {
        guard !isOver else { return }
        isOver = true
        limit?.cancel()
        if let connection = connection.take() { leave(connection) }
        finished(passed)
    }

    private func leave(_ connection: UpstreamConnection) {
        connection.release(clean: false)
        left()
    }

    /// The status of the final answer, such as `HTTP/1.1 200 …`; nil where its line is not complete, 0 where it is
    /// none. Interim answers are skipped (RFC 9110 section 15.2); 101 would be final.
    static func status(in bytes: ByteBuffer) -> Int? {
        var rest = bytes
        while let status = statusOfFirst(in: rest) {
            guard (100..<200).contains(status), status != 101 else { return status }
            guard skipHead(&rest) else { return nil }
        }
        return nil
    }

    /// Takes a head away; false where its empty line has not arrived.
    private static func skipHead(_ bytes: inout ByteBuffer) -> Bool {
        while let end = bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes.readSlice(length: end + 1 - bytes.readerIndex)
            if let line, line.readableBytesView.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
                return true
            }
        }
        return false
    }

    private static func statusOfFirst(in bytes: ByteBuffer) -> Int? {
        let line = bytes.readableBytesView.prefix { $0 != UInt8(ascii: "\n") }
        guard line.count < bytes.readableBytes else { return nil }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8) else { return 0 }
        let digits = words[1].filter { $0 != UInt8(ascii: "\r") }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
