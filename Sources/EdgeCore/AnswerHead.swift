import Answers
import HTTPWire
import NIOCore

/// Writes the heads of the gateway's own answers.
package enum AnswerHead {
    /// Begins a head with the status line and `Date`.
    package static func begin(status: Int, date: String) -> ByteBuffer {
        var head = ByteBuffer()
        head.reserveCapacity(512)
        HeadWriter.statusLine(status, to: &head)
        head.writeString("Date: \(date)\r\n")
        return head
    }

    /// Writes one field. A field whose value could end the line is left out: such a value can only be a bug of the
    /// gateway.
    package static func write(field name: String, _ value: String, to head: inout ByteBuffer) {
        guard isSafe(value) else { return }
        head.writeString(name)
        head.writeStaticString(": ")
        head.writeString(value)
        head.writeStaticString("\r\n")
    }

    private static func isSafe(_ value: String) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            for byte in bytes where byte < 0x20 && byte != 0x09 || byte == 0x7f { return false }
            return true
        }
    }
}

extension Problem {
    /// The refusal of a malformed message, with the status that fits its fault.
    package init(wire error: WireError) {
        let (code, circumstance): (ProblemCode, ProblemCircumstance) =
            switch error.code {
            case .targetTooLong: (.headerTooLarge, .targetTooLong)
            case .headTooLong, .tooManyFields: (.headerTooLarge, .usual)
            case .expectation: (.badMessage, .expectation)
            case .unknownTransferCoding: (.badMessage, .unknownTransferCoding)
            case .unsupportedVersion: (.badMessage, .version)
            case .startLine, .method, .target, .version, .status, .lineEnding, .fieldName, .obsoleteFolding,
                .fieldValue,
                .contentLength, .duplicateContentLength, .transferEncoding, .transferEncodingWithContentLength,
                .transferEncodingInHTTP10, .host, .missingHost, .duplicateHost, .hostMismatch, .connection, .chunk,
                .chunkExtension, .trailer, .truncatedBody, .path, .query, .tooManyParameters:
                (.badMessage, .usual)
            }
        self.init(code, circumstance, reason: "\(error.reason)")
    }
}
