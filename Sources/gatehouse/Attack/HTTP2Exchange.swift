import HostileTokens
import NIOCore
import NIOHPACK

/// One request over HTTP/2. Its frames are not written by a library, which would refuse malformed requests.
struct HTTP2Exchange {
    private typealias Field = FramedRequest.Field

    /// The frames of the request, which follow the opening of the connection.
    private let frames: [UInt8]
    /// Whether it opens a WebSocket (RFC 8441): its stream stays open, and 200 is what 101 is in HTTP/1.1.
    private let isConnect: Bool

    /// Takes the frames of a request as they are, and converts a request of HTTP/1.1. Fields that apply to a connection
    /// are left out.
    init(_ request: RawRequest, isSecure: Bool) throws(SendFailure) {
        if let frames = request.frames {
            self.frames = frames
            isConnect = false
            return
        }
        guard let end = request.bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw SendFailure(.unreadable, "the request has no head")
        }
        var lines = Self.lines(request.bytes[..<end.lowerBound])
        let line = lines.removeFirst()
        let words = line.split(separator: 0x20, maxSplits: 2)
        guard words.count == 3 else { throw SendFailure(.unreadable, "the request has no method and path") }
        let lineFields = lines.compactMap(Self.field)
        let upgrade = lineFields.first { $0.name.elementsEqual("upgrade".utf8) }?.value
        isConnect = upgrade != nil && words[0].elementsEqual("GET".utf8)
        var pseudo: [Field] = [
            (Array(":method".utf8), isConnect ? Array("CONNECT".utf8) : Array(words[0])),
            (Array(":scheme".utf8), Array((isSecure ? "https" : "http").utf8)),
            (Array(":path".utf8), Array(words[1])),
        ]
        if isConnect, let upgrade { pseudo.append((Array(":protocol".utf8), upgrade)) }
        var fields: [Field] = []
        for (name, value) in lineFields {
            switch String(decoding: name, as: UTF8.self) {
            case "host": pseudo.append((Array(":authority".utf8), value))
            case "connection", "transfer-encoding", "upgrade", "keep-alive", "http2-settings": break
            // The key has no meaning over HTTP/2 (RFC 8441 section 5).
            case "sec-websocket-key" where isConnect: break
            default: fields.append((name, value))
            }
        }
        var converted = FramedRequest(fields: pseudo + fields, body: Array(request.bytes[end.upperBound...]))
        converted.staysOpen = isConnect
        frames = converted.frames
    }

    /// The lower-case name and the value of a field's line; nil for a line without a colon.
    private static func field(_ line: ArraySlice<UInt8>) -> Field? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (
            line[..<colon].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
            Array(line[(colon + 1)...].drop { $0 == 0x20 })
        )
    }

    /// The lines of a head, with CR LF or LF alone at their ends.
    private static func lines(_ head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        head.split(separator: 0x0A, omittingEmptySubsequences: false).map { $0.last == 0x0D ? $0.dropLast() : $0 }
    }

    // MARK: Running

    /// The start of a connection, with settings at their defaults but for ENABLE_PUSH, which is 0 (RFC 9113 section
    /// 6.5.2).
    private static let opening =
        FramedRequest.preface + FramedRequest.frame(type: 4, flags: 0, stream: 0, [0, 2, 0, 0, 0, 0])

    /// Whether the target's first frame is there, which holds its settings.
    private static func holdsSettings(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 9 else { return false }
        return bytes.count >= 9 + (Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2]))
    }

    /// Sends the request and returns its answer, or what has come of it when `limit` has passed.
    func run(over stream: NetworkStream, within limit: Duration) async throws -> RawResponse {
        let end = ContinuousClock.now + limit
        try await stream.send(Self.opening)
        // A target may hold a long head back until its settings have been acknowledged (RFC 9113 section 6.5.3).
        let start = await stream.receive(within: limit) { Self.holdsSettings($0) }.bytes
        try await stream.send(FramedRequest.frame(type: 4, flags: 1, stream: 0, []) + frames)
        let limit = max(.zero, end - ContinuousClock.now)
        let isConnect = isConnect
        let received = await stream.receive(within: limit) { bytes in
            var answer = Answer(start + bytes)
            return answer.isOver || (isConnect && answer.response?.status == 200)
        }
        let bytes = start + received.bytes
        var answer = Answer(bytes)
        if var response = answer.response {
            guard isConnect, response.status == 200 else {
                response.isCut = !received.hasEnded && !answer.isOver
                return response
            }
            return RawResponse(status: 101, bytes: response.bytes)
        }
        if answer.wasRefused { throw SendFailure(.refused, "the stream was reset") }
        throw RawSender.failure(bytes, received.hasEnded, stream.fault)
    }

    /// The frames of the stream that have arrived.
    private struct Answer {
        /// Whether nothing more is to be expected: the answer has ended, or was refused.
        private(set) var isOver = false
        /// Whether the stream was reset, or the connection ended for it.
        private(set) var wasRefused = false
        /// The field blocks of the stream in the order of arrival, each with its continuations: one for interim
        /// answers, the answer and the trailers each.
        private var blocks: [[UInt8]] = []
        /// The payloads of DATA frames, without their padding.
        private var body: [UInt8] = []
        /// How many frames are looked at. A target that sends more of them has answered nothing useful.
        private static let frameLimit = 4_096

        init(_ bytes: [UInt8]) {
            var rest = bytes[...]
            var block: [UInt8] = []
            var ends = false
            var count = 0
            while rest.count >= 9 {
                count += 1
                // No answer takes that many frames.
                guard count <= Self.frameLimit else {
                    isOver = true
                    return
                }
                let head = Array(rest.prefix(9))
                let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                guard rest.count >= 9 + length else { return }
                let payload = rest.dropFirst(9).prefix(length)
                rest = rest.dropFirst(9 + length)
                let isOurs = head[5...8].elementsEqual([0, 0, 0, 1])
                switch head[3] {
                case 7 where Self.spares(payload): break
                case 7:
                    wasRefused = true
                    isOver = true
                case _ where !isOurs: break
                case 0:
                    body += Self.unpadded(payload, flags: head[4])
                    if head[4] & 1 != 0 { isOver = true }
                case 1, 9:
                    var part = head[3] == 1 ? Self.unpadded(payload, flags: head[4]) : payload
                    if head[3] == 1 {
                        ends = head[4] & 1 != 0
                        if head[4] & 0x20 != 0 { part = part.dropFirst(5) }
                    }
                    block += part
                    guard head[4] & 4 != 0 else { continue }
                    blocks.append(block)
                    block = []
                    if ends { isOver = true }
                case 3:
                    wasRefused = true
                    isOver = true
                default: break
                }
                if isOver { return }
            }
        }

        /// Whether a GOAWAY lets the stream go on: it names no error, and our stream as the last one or an earlier one
        /// (RFC 9113 section 6.8).
        private static func spares(_ payload: ArraySlice<UInt8>) -> Bool {
            payload.prefix(4).contains { $0 != 0 } && payload.dropFirst(4).prefix(4).allSatisfy { $0 == 0 }
        }

        /// The payload without its padding (RFC 9113 section 6.1).
        private static func unpadded(_ payload: ArraySlice<UInt8>, flags: UInt8) -> ArraySlice<UInt8> {
            guard flags & 8 != 0, let count = payload.first else { return payload }
            return payload.dropFirst().dropLast(Int(count))
        }

        var response: RawResponse? {
            mutating get {
                var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
                for block in blocks {
                    var buffer = ByteBuffer(bytes: block)
                    guard let headers = try? decoder.decodeHeaders(from: &buffer) else { return nil }
                    guard let text = headers.first(name: ":status"), let status = Int(text) else { continue }
                    guard status >= 200 else { continue }
                    let fields = headers.filter { !$0.name.hasPrefix(":") }.map { (name: $0.name, value: $0.value) }
                    let head =
                        "HTTP/2 \(status)\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
                    return RawResponse(status: status, fields: fields, body: body, bytes: Array(head.utf8) + body)
                }
                return nil
            }
        }
    }
}
