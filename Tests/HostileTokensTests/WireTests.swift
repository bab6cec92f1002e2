import Testing

@testable import HostileTokens

@Suite("Requests and answers as bytes")
struct WireTests {
    @Test("A token is sent unchanged in a field, and percent-encoded in a query")
    func requests() throws {
        let token: Payload = .token(Array("a b=\u{0}.c".utf8))
        let plain = try #require(Transport.authorization.request(token, to: target))
        #expect(
            plain.bytes.elementsEqual(
                ("GET /api/auth/me HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer a b=\u{0}.c\r\n"
                    + "Connection: close\r\n\r\n").utf8))
        let socket = try #require(Transport.socketQuery.request(token, to: target))
        #expect(String(decoding: socket.bytes, as: UTF8.self).contains("?access_token=a%20b%3D%00.c&session_id=ses_A"))
    }

    @Test("Attacks with their own carriers are sent in plain requests only")
    func carriers() {
        let payload = Payload.authorization([Array("Basic x".utf8)], query: Array("t".utf8))
        #expect(Transport.authorization.request(payload, to: target) != nil)
        #expect(Transport.socketHeaders.request(payload, to: target) == nil)
        #expect(Transport.introspection.request(payload, to: target) == nil)
        #expect(Transport.socketProtocol.request(.token(Array("a,b".utf8)), to: target) == nil)
    }

    @Test("A handshake carries the token as the target's own carrier of that kind has it")
    func socketCarriers() throws {
        var other = target
        other.carrierName = "X-Token"
        func text(_ transport: Transport) throws -> String {
            let request = try #require(transport.request(.token(Array("t".utf8)), to: other))
            return String(decoding: request.bytes, as: UTF8.self)
        }
        #expect(try text(.socketHeaders).contains("X-Token: t\r\n"))
        #expect(try text(.socketQuery).contains("access_token=t&"))
        #expect(try text(.socketProtocol).contains("Sec-WebSocket-Protocol: gatehouse.v1, bearer.t, session.ses_"))
        other.carrier = .socketProtocol
        other.carrierName = nil
        other.carrierPrefix = "jwt."
        #expect(try text(.socketProtocol).contains("Sec-WebSocket-Protocol: jwt.t, session."))
        #expect(try text(.socketHeaders).contains("Authorization: Bearer t\r\n"))
        other.socketCookie = "gate"
        #expect(try text(.socketCookie).contains("Cookie: gate=t\r\n"))
    }

    @Test("An answer is parsed when its head is complete; interim answers are skipped")
    func answers() throws {
        #expect(RawResponse(parsing: Array("HTTP/1.1 401 Unau".utf8)) == nil)
        #expect(RawResponse(parsing: Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) == nil)
        #expect(RawResponse(parsing: Array("SSH-2.0-x\r\n\r\n".utf8)) == nil)
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 \r\nContent-Length: 2\r\n\r\n{"
        let part = try #require(RawResponse(parsing: Array(text.utf8)))
        #expect(part.status == 401)
        #expect(!part.isComplete)
        let whole = try #require(RawResponse(parsing: Array((text + "}").utf8)))
        #expect(whole.isComplete)
        #expect(whole.field("content-length") == "2")
        #expect(RawResponse(parsing: Array("HTTP/1.1 101 Switching\r\n\r\n".utf8))?.isComplete == true)
    }

    @Test("Introspection counts as acceptance unless the answer says that the token is not active")
    func introspection() {
        func accepted(_ body: String) -> Bool {
            Transport.introspection.isAccepted(RawResponse(status: 200, body: Array(body.utf8)), by: target)
        }
        #expect(accepted(#"{"active":true}"#))
        #expect(!accepted(#"{"active":false}"#))
        #expect(!accepted("10\r\n{\"active\":false}\r\n0\r\n\r\n"))
        #expect(accepted(""))
    }

    @Test("A request of HTTP/2 is sent byte for byte, with long heads in several frames")
    func frames() {
        var request = FramedRequest(fields: [])
        request.add("X-Any", "a\r\nb")
        request.body = [1, 2]
        #expect(
            request.frames == [
                0, 0, 12, 1, 4, 0, 0, 0, 1, 0, 5, 0x58, 0x2D, 0x41, 0x6E, 0x79, 4, 0x61, 0x0D, 0x0A, 0x62,
                0, 0, 2, 0, 1, 0, 0, 0, 1, 1, 2,
            ])
        #expect(RawRequest(request).frames == request.frames)
        #expect(RawRequest(text: "GET / HTTP/1.1\r\n\r\n").frames == nil)
        request.trailers = [([0x61], [0x62])]
        // The body no longer ends the stream, but the trailers do.
        #expect(
            request.frames.suffix(25) == [
                0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 5, 1, 5, 0, 0, 0, 1, 0, 1, 0x61, 1, 0x62,
            ])
        request.trailers = []
        request.change("X-Any") { $0 + String(repeating: "x", count: 16_384) }
        request.body = []
        let long = request.frames
        // The first frame ends the stream and not the head, which the second one does.
        #expect(long.prefix(5) == [0, 0x40, 0, 1, 1])
        #expect(long.dropFirst(9 + 16_384).prefix(5) == [0, 0, 14, 9, 4])
    }

    @Test("Numbers add and count down over their bytes")
    func numbers() {
        #expect(BigNumber.sum([0, 255], [1]) == [1, 0])
        #expect(BigNumber.sum([255], [1]) == nil)
        #expect(BigNumber.predecessor([1, 0]) == [0, 255])
        #expect(BigNumber.small(7, count: 3) == [0, 0, 7])
    }

    @Test("DER has short and long lengths, and numbers that are never negative")
    func der() {
        #expect(DER.integer([0, 0]) == [2, 1, 0])
        #expect(DER.integer([0x80]) == [2, 2, 0, 0x80])
        #expect(DER.sequence(DER.bitString(Bytes.zeros(200))).prefix(3) == [0x30, 0x81, 204])
    }
}
