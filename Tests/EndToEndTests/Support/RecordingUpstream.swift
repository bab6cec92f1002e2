import Foundation
import Synchronization

/// A server behind the gateway: keeps the exact bytes of every request and answers what the test scripted.
///
/// One thread accepts, one more serves each connection; everything blocks, with a time limit on every read.
///
///     let upstream = try RecordingUpstream()                                   // 200 "ok" to everything
///     let upstream = try RecordingUpstream { _, stream in                      // any bytes at all
///         try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
///         return .close
///     }
final class RecordingUpstream: Sendable {
    /// What becomes of the connection after an answer.
    enum After: Sendable { case keep, close, reset }

    typealias Script = @Sendable (RecordedRequest, UpstreamStream) throws -> After

    static let plainAnswer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"

    /// 0 for a Unix socket.
    let port: Int
    /// What `upstream:` of a route takes.
    let url: String
    private let listener: Int32
    private let readsBody: Bool
    private let script: Script
    private let state = Mutex(State())

    private struct State {
        var requests: [RecordedRequest] = []
        var connections = 0
        var open: Set<Int32> = []
        var isStopped = false
    }

    /// - Parameters:
    ///   - unixPath: listens there instead of on a loopback port.
    ///   - readsBody: whether a request's body is read and recorded before the script is asked; else the script reads.
    init(
        port: Int = 0, unixPath: String? = nil, readsBody: Bool = true,
        script: @escaping Script = { request, stream in
            try stream.send(request.method == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" : plainAnswer)
            return .keep
        }
    ) throws {
        self.readsBody = readsBody
        self.script = script
        if let unixPath {
            listener = try SocketAddressing.listen(unixPath: unixPath)
            self.port = 0
            url = "unix:\(unixPath)"
        } else {
            let bound = try SocketAddressing.listen(port: port)
            listener = bound.descriptor
            self.port = bound.port
            url = "http://127.0.0.1:\(bound.port)"
        }
        Thread.detachNewThread { [self] in accept() }
    }

    /// Every request so far, in order of arrival.
    var requests: [RecordedRequest] { state.withLock { $0.requests } }
    /// How many connections were accepted.
    var connectionCount: Int { state.withLock { $0.connections } }
    /// How many connections are open now.
    var openConnections: Int { state.withLock { $0.open.count } }

    /// Forgets what was recorded.
    func forget() { state.withLock { $0.requests = [] } }

    /// Stops listening and cuts every connection.
    func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            shutdown(listener, Int32(SHUT_RDWR))
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Cuts every open connection and goes on listening.
    func cutConnections() {
        state.withLock { for descriptor in $0.open { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let number = state.withLock { state -> Int? in
                guard !state.isStopped else { return nil }
                state.connections += 1
                state.open.insert(descriptor)
                return state.connections
            }
            guard let number else {
                close(descriptor)
                break
            }
            Thread.detachNewThread { [self] in
                serve(UpstreamStream(descriptor: descriptor), number)
                state.withLock { state in
                    state.open.remove(descriptor)
                    close(descriptor)
                }
            }
        }
        close(listener)
    }

    private func serve(_ stream: UpstreamStream, _ number: Int) {
        do {
            while let request = try stream.readRequest(connection: number, withBody: readsBody) {
                state.withLock { $0.requests.append(request) }
                // Where a collector of traces is sent spans (OTLP).
                if request.target == "/v1/traces" {
                    TestOutputs.keep(String(decoding: request.body, as: UTF8.self), kind: "spans")
                }
                switch try script(request, stream) {
                case .keep: continue
                case .close: return
                case .reset: return stream.reset()
                }
            }
        } catch {
            // The gateway went away or sent nothing in time: the connection ends, the test sees what was recorded.
        }
    }
}

/// One request as it arrived at an upstream.
struct RecordedRequest: Sendable {
    /// Which connection it came on, counted from 1.
    let connection: Int
    /// The head with its final empty line, exactly.
    let head: [UInt8]
    /// The body as it was framed on the wire, chunk sizes included.
    let rawBody: [UInt8]
    /// The body without its framing.
    let body: [UInt8]

    var text: String { String(decoding: head, as: UTF8.self) }
    private var lines: [String] { text.components(separatedBy: "\r\n") }
    var method: String { lines.first?.split(separator: " ").first.map(String.init) ?? "" }
    var target: String {
        let parts = lines.first?.split(separator: " ") ?? []
        return parts.count > 1 ? String(parts[1]) : ""
    }

    /// Names and values as sent.
    var fields: [(name: String, value: String)] {
        lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (
                String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            )
        }
    }

    /// The names in lower case, each once.
    var names: Set<String> { Set(fields.map { $0.name.lowercased() }) }

    subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    func all(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// The upstream's side of one connection.
final class UpstreamStream {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw RawSocket.Failure(description: "upstream send: \(errno)") }
            sent += count
        }
    }

    /// What has arrived, at least one byte; nothing when the gateway has closed.
    func readSome() throws -> [UInt8] {
        if buffer.isEmpty, try !fill() { return [] }
        defer { buffer = [] }
        return buffer
    }

    func read(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw RawSocket.Failure(description: "the gateway closed within a body") }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// Reads on until the gateway closes, and says how many bytes that were.
    func drain() throws -> Int {
        var count = buffer.count
        buffer = []
        while try fill() {
            count += buffer.count
            buffer = []
        }
        return count
    }

    /// Closes with a reset instead of an end.
    func reset() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count == 0 || (count < 0 && errno == ECONNRESET) { return false }
        guard count > 0 else { throw RawSocket.Failure(description: "upstream recv: \(errno)") }
        buffer += chunk.prefix(count)
        return true
    }

    fileprivate func readRequest(connection: Int, withBody: Bool) throws -> RecordedRequest? {
        let mark = Array("\r\n\r\n".utf8)
        var end = buffer.firstRange(of: mark)
        while end == nil {
            guard try fill() else { return nil }
            end = buffer.firstRange(of: mark)
        }
        let head = try read(end?.upperBound ?? 0)
        var request = RecordedRequest(connection: connection, head: head, rawBody: [], body: [])
        guard withBody else { return request }
        if request["transfer-encoding"]?.lowercased() == "chunked" {
            let (raw, body) = try readChunks()
            request = RecordedRequest(connection: connection, head: head, rawBody: raw, body: body)
        } else if let length = request["content-length"].flatMap({ Int($0) }) {
            let body = try read(length)
            request = RecordedRequest(connection: connection, head: head, rawBody: body, body: body)
        }
        return request
    }

    private func readChunks() throws -> (raw: [UInt8], body: [UInt8]) {
        var (raw, body): ([UInt8], [UInt8]) = ([], [])
        while true {
            let line = try readLine()
            raw += line
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let size = Int(text.split(separator: ";").first ?? "", radix: 16) else {
                throw RawSocket.Failure(description: "chunk size '\(text)'")
            }
            if size == 0 { break }
            let part = try read(size)
            body += part
            raw += part
            raw += try read(2)
        }
        while true {
            let line = try readLine()
            raw += line
            if line.count == 2 { return (raw, body) }
        }
    }

    private func readLine() throws -> [UInt8] {
        let mark = Array("\r\n".utf8)
        while true {
            if let range = buffer.firstRange(of: mark) { return try read(range.upperBound) }
            guard try fill() else { throw RawSocket.Failure(description: "the gateway closed within a line") }
        }
    }
}
