import HTTPWire
import NIOCore
import Testing

@testable import EdgeCore

@Suite("Collecting a body") struct BodyCollectorTests {
    @Test("A body is taken up to the limit, whatever its parts are, and not a byte more")
    func limit() {
        for parts in [[4], [1, 3], [1, 1, 1, 1], [0, 4, 0]] {
            var body = BodyCollector(limit: 4)
            #expect(body.isEmpty)
            for size in parts {
                let isTaken = body.append(ByteBuffer(repeating: 0x61, count: size))
                #expect(isTaken)
            }
            let isTooMuch = !body.append(ByteBuffer(repeating: 0x62, count: 1))
            #expect(isTooMuch && !body.isEmpty)
            let taken = body.take()
            #expect(taken == [0x61, 0x61, 0x61, 0x61] && body.isEmpty)
        }
    }

    @Test("Only a length that is announced is refused before the body")
    func announced() {
        let body = BodyCollector(limit: 4)
        #expect(body.takes(.none) && body.takes(.chunked) && body.takes(.length(0)) && body.takes(.length(4)))
        #expect(!body.takes(.length(5)) && !body.takes(.length(.max)))
    }
}
