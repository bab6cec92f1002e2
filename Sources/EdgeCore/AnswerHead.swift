import Answers
import HTTPWire
import NIOCore

/// The head of an answer: its status and fields, in the form in which the client's connection sends them.
package struct AnswerHead {
    /// The status, 100 to 999.
    package let status: Int
    /// The fields. Over HTTP/1.1 their lines begin with the status line, and the connection ends them.
    package var fields: AnswerFields

    /// Begins the head of an answer of the gateway itself.
    ///
    /// - Parameters:
    ///   - status: one that is not within 100 to 999 becomes 500.
    ///   - date: the value of `Date` (RFC 9110 section 6.6.1); nil for an answer that has none, as 1xx.
    package init(status: Int, _ form: AnswerFields.Form, date: String?) {
        self.status = (100...999).contains(status) ? status : 500
        fields = AnswerFields(form, capacity: 512)
        fields.addStatusLine(self.status)
        if let date { fields.add("Date", date) }
    }

    /// Begins the head of an answer that is passed on, with the status of the upstream's head and none of its fields.
    ///
    /// - Parameter room: the bytes that are kept free for what the connection adds, and a small body.
    package init(passingOn head: ResponseHead, _ form: AnswerFields.Form, room: Int) {
        status = head.status
        fields = AnswerFields(form, capacity: head.bytes.readableBytes + room)
        fields.addStatusLine(of: head)
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
