import EdgeConfiguration
import NIOCore
import Testing

@testable import Proxy

@Suite("The status of a check's answer") struct HealthProbeTests {
    @Test(
        "Only a whole status line counts",
        arguments: [
            ("HTTP/1.1 200 OK\r\n", 200), ("HTTP/1.0 503\r\n", 503), ("HTTP/1.1 204 \r\nA: b", 204),
            ("HTTP/1.1 200 OK", nil), ("", nil), ("HTTP/2 200 OK\r\n", 0), ("220 smtp\r\n", 0),
            ("HTTP/1.1 2000 OK\r\n", 0), ("HTTP/1.1 2x0 OK\r\n", 0), ("\n", 0),
        ] as [(String, Int?)])
    func status(_ text: String, _ status: Int?) {
        #expect(HealthProbe.status(in: .init(string: text)) == status)
    }

    @Test(
        "Interim answers are skipped, wherever the bytes are cut",
        arguments: [
            ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n", 204),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 503 No\r\n", 503),
            ("HTTP/1.1 101 Switching Protocols\r\n", 101), ("HTTP/1.1 100 Continue\r\n\r\nnothing\r\n", 0),
        ])
    func interim(_ text: String, _ status: Int) {
        #expect(HealthProbe.status(in: .init(string: text)) == status)
        for count in 0..<text.utf8.count {
            #expect(HealthProbe.status(in: .init(bytes: text.utf8.prefix(count))) == nil, "\(count)")
        }
    }
}
