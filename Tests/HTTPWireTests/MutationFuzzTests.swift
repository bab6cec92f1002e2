import Foundation
import HTTPWire
import NIOCore
import RandomForTests
import Testing

@Suite("Mutated bytes")
struct MutationFuzzTests {
    private func rounds(seed: UInt64, from seeds: [[UInt8]], _ check: ([UInt8], inout SeededGenerator) -> Void) {
        var generator = SeededGenerator(seed: FuzzPlan.seed(seed))
        let end = ContinuousClock.now + FuzzPlan.time
        var rounds = 0
        while rounds < FuzzPlan.maxRounds, ContinuousClock.now < end {
            let seed = seeds.randomElement(using: &generator) ?? []
            check(Seeds.mutate(seed, &generator), &generator)
            rounds += 1
        }
        #expect(rounds > 20)
    }

    @Test("are read the same in one piece and in many, requests") func requests() {
        rounds(seed: 1, from: Seeds.requests.map(Wire.bytes)) { bytes, generator in
            checkRequests(bytes, step: Int.random(in: 1...9, using: &generator))
        }
    }

    private func checkRequests(_ bytes: [UInt8], step: Int) {
        let whole = FramedConnection.requests(bytes)
        #expect(
            FramedConnection.requests(bytes, step: step) == whole,
            "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
    }

    @Test("are read the same in one piece and in many, responses") func responses() {
        rounds(seed: 2, from: Seeds.responses.map(Wire.bytes)) { bytes, generator in
            let step = Int.random(in: 1...9, using: &generator)
            let whole = FramedConnection.responses(bytes)
            #expect(
                FramedConnection.responses(bytes, step: step) == whole,
                "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
        }
    }

    @Test("give a path whose canonical form is itself, or none") func paths() {
        let seeds = ["/a/b/c", "/%41/%2e%2e/x", "/a%20b;c/%c3%a9", "/a%2fb%252e", "/..;/.well-known/[x]"].map(
            Wire.bytes)
        rounds(seed: 3, from: seeds) { bytes, _ in
            for slash in [false, true] {
                guard let path = try? CanonicalPath(ByteBuffer(bytes: bytes), allowEncodedSlash: slash) else {
                    continue
                }
                let again = try? CanonicalPath(path.bytes, allowEncodedSlash: slash)
                #expect(again?.bytes == path.bytes)
                let segments = path.string.replacingOccurrences(of: "%2F", with: "/").split(
                    separator: "/", omittingEmptySubsequences: false)
                #expect(!segments.contains { $0 == "." || $0 == ".." } && !path.string.contains("//"))
            }
        }
    }

    @Test("give a query from which parameters can be removed completely") func queries() {
        let seeds = ["a=1&b=2&access_token=x", "access%5ftoken=%41&&c", "=&=&%"].map(Wire.bytes)
        rounds(seed: 4, from: seeds) { bytes, _ in
            let query = RequestQuery(ByteBuffer(bytes: bytes))
            guard let rest = try? query.removing(["access_token", "a"]) else { return }
            #expect((try? RequestQuery(rest).contains(anyOf: ["access_token", "a"])) == false)
        }
    }

    @Test("give the same frames in one piece and in many") func frames() {
        let seeds: [[UInt8]] = [
            ClientFrame(0x1, text: "hello").bytes + ClientFrame(0x9, text: "p").bytes + close(1000).bytes,
            ClientFrame(0x1, text: "hé", final: false).bytes + ClientFrame(0x0, text: "€").bytes,
            ClientFrame(0x2, Array(repeating: 9, count: 200)).bytes + ClientFrame(0xA).bytes,
        ]
        rounds(seed: 5, from: seeds) { bytes, generator in
            let step = Int.random(in: 1...9, using: &generator)
            #expect(events(bytes, step: step) == events(bytes))
            var (whole, pieces) = (FrameTracker(), FrameTracker())
            let expected = whole.advance(over: ByteBuffer(bytes: bytes))
            var failed = false
            for start in stride(from: 0, to: bytes.count, by: step) {
                let piece = ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)])
                if case .failure = pieces.advance(over: piece) { failed = true }
            }
            #expect(failed == ((try? expected.get()) == nil) && pieces.isAtBoundary == whole.isAtBoundary)
        }
    }
}
