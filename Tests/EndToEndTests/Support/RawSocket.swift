import Foundation

/// A TCP connection whose bytes a test writes and reads itself. Blocking, with a time limit on every read.
final class RawSocket {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// Nothing came, or nothing could be sent, for as long as the socket waits; the connection has not ended.
        var isTimeout = false
    }

    /// How many seconds a read waits for what must come. What answers only after a time limit of its own, such as the
    /// five seconds of a provider, has to fit into it, beside other tests on a slow machine.
    static let patience = 30

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// - Parameter receiveBuffer: bytes that the kernel may hold for a test that does not read; nil for its own choice.
    init(port: Int, timeoutSeconds: Int = RawSocket.patience, receiveBuffer: Int32? = nil) throws {
        descriptor = try RawSocket.make(AF_INET, timeoutSeconds)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(description: "connect: \(errno)") }
    }

    /// A connection to a Unix socket.
    init(unixPath: String) throws {
        descriptor = try RawSocket.make(AF_UNIX, RawSocket.patience)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(unixPath.utf8.prefix($0.count - 1))) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure(description: "connect: \(errno)") }
    }

    private static func make(_ family: Int32, _ timeoutSeconds: Int) throws -> Int32 {
        let descriptor = SocketAddressing.stream(family)
        guard descriptor >= 0 else { throw Failure(description: "socket: \(errno)") }
        setTimeout(descriptor, timeoutSeconds)
        return descriptor
    }

    private static func setTimeout(_ descriptor: Int32, _ seconds: Int) {
        var timeout = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    /// How long reads and writes wait from now on.
    func wait(seconds: Int) { Self.setTimeout(descriptor, seconds) }

    /// Whether something can be read, an answer or the end, before so many milliseconds are over.
    func isReadable(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !buffer.isEmpty || poll(&entry, 1, milliseconds) > 0
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8], flags: Int32 = 0) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | flags)
            }
            guard count > 0 else { throw Failure(description: "send: \(errno)", isTimeout: errno == EAGAIN) }
            sent += count
        }
    }

    /// Closes with a reset instead of an orderly end, now if nothing else holds the socket.
    func resetWhenClosed() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Says that nothing more will be sent.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The last that will be sent, with its end in the same packet.
    func sendLast(_ bytes: [UInt8]) throws {
        try send(bytes, flags: Int32(MSG_MORE))
        finishSending()
    }

    /// At least one more byte, or nothing when the peer has closed.
    @discardableResult
    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count == 0 { return false }
        guard count > 0 else {
            let reason = errno
            if reason == ECONNRESET { return false }
            guard reason != EAGAIN else { throw Failure(description: "nothing came in time", isTimeout: true) }
            throw Failure(description: "recv: \(reason)")
        }
        buffer += chunk.prefix(count)
        return true
    }

    /// Exactly so many bytes.
    func read(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw Failure(description: "closed after \(buffer.count) of \(count) bytes") }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// Everything until the peer closes.
    func readToEnd(limit: Int = 64 * 1024 * 1024) throws -> [UInt8] {
        while buffer.count < limit, try fill() {}
        defer { buffer = [] }
        return buffer
    }

    /// Whether the peer closes without sending anything more.
    func isClosedByPeer() throws -> Bool { try buffer.isEmpty && !fill() }

    /// Whether the connection is open, and nothing has come that was not read.
    var isQuiet: Bool {
        var byte: UInt8 = 0
        let found = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return buffer.isEmpty && found < 0 && errno == EAGAIN
    }

    /// One response with its body, by Content-Length or chunks; interim answers are skipped.
    func response(toHead isHead: Bool = false) throws -> RawResponse {
        while true {
            let response = try head()
            guard response.status >= 200 || response.status == 101 else { continue }
            let whole = try withBody(response, isHead: isHead)
            // The text format of Prometheus.
            if whole["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true {
                TestOutputs.keep(whole.text, kind: "metrics")
            }
            return whole
        }
    }

    private func head() throws -> RawResponse {
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let range = buffer.firstRange(of: mark) {
                let text = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer.removeFirst(range.upperBound)
                guard let response = RawResponse(head: text) else {
                    throw Failure(description: "no response head: \(text.prefix(200))")
                }
                return response
            }
            guard try fill() else {
                throw Failure(description: "closed before a whole head: \(String(decoding: buffer, as: UTF8.self))")
            }
        }
    }

    private func withBody(_ head: RawResponse, isHead: Bool) throws -> RawResponse {
        var response = head
        if isHead || response.status == 204 || response.status == 304 || response.status == 101 { return response }
        if response["transfer-encoding"]?.lowercased() == "chunked" {
            while true {
                let line = try line()
                guard let size = Int(line.split(separator: ";").first ?? "", radix: 16) else {
                    throw Failure(description: "chunk size '\(line)'")
                }
                response.body += try read(size)
                _ = try read(2)
                if size == 0 { return response }
            }
        }
        if let length = response["content-length"].flatMap({ Int($0) }) {
            response.body = try read(length)
        } else {
            response.body = try readToEnd()
        }
        return response
    }

    private func line() throws -> String {
        let mark = Array("\r\n".utf8)
        while true {
            if let range = buffer.firstRange(of: mark) {
                defer { buffer.removeFirst(range.upperBound) }
                return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
            }
            guard try fill() else { throw Failure(description: "closed within a line") }
        }
    }
}

/// A response as it came over the wire.
struct RawResponse {
    var status: Int
    /// Names as sent.
    var fields: [(name: String, value: String)]
    var body: [UInt8] = []

    init?(head: String) {
        let lines = head.components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let status = Int(parts[1]) else { return nil }
        self.status = status
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(line[..<colon]), value)
        }
    }

    subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    func all(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as a JSON object; empty when it is none.
    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }

    /// `code` of a problem.
    var code: String? { json["code"] as? String }
}
