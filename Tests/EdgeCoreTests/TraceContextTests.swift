import HTTPWire
import NIOCore
import Testing

@testable import EdgeCore

@Suite("Trace context")
struct TraceContextTests {
    @Test(
        "Numbers are written as sixteen hexadecimal digits",
        arguments: [
            (0, "0000000000000000"), (.max, "ffffffffffffffff"), (0x0123_4567_89AB_CDEF, "0123456789abcdef"),
            (0xFEDC_BA98_7654_3210, "fedcba9876543210"), (0x9A_0000_000A, "0000009a0000000a"),
        ] as [(UInt64, String)])
    func digits(number: UInt64, text: String) {
        var buffer = ByteBuffer()
        TraceContext.writeHex(number, to: &buffer)
        #expect(String(buffer: buffer) == text)
    }

    @Test("What is written is read again")
    func both() throws {
        let written = BytePen.written(expecting: 64) { pen in
            TraceContext.write(
                0x0AF7_6519_16CD_43DD, 0x8448_EB21_1C80_319C, span: 0xB7AD_6B71_6920_3331, isSampled: true, to: &pen)
        }
        #expect(String(buffer: written) == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        let read = try #require(written.withUnsafeReadableBytes(TraceContext.read))
        #expect(read.high == 0x0AF7_6519_16CD_43DD && read.low == 0x8448_EB21_1C80_319C)
        #expect(read.parent == 0xB7AD_6B71_6920_3331 && read.isSampled)
    }
}
