/// Why bytes were refused. Equal when the codes are.
package struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The closed list of refusals.
    package enum Code: String, Sendable, CaseIterable {
        case startLine
        case method
        case target
        case targetTooLong
        case version
        case unsupportedVersion
        case status
        case lineEnding
        case fieldName
        case obsoleteFolding
        case fieldValue
        case headTooLong
        case tooManyFields
        case contentLength
        case duplicateContentLength
        case transferEncoding
        case unknownTransferCoding
        case transferEncodingWithContentLength
        case transferEncodingInHTTP10
        case host
        case missingHost
        case duplicateHost
        case hostMismatch
        case connection
        case expectation
        case chunk
        case chunkExtension
        case trailer
        case truncatedBody
        case path
        case query
        case tooManyParameters
    }

    /// Which rule was broken.
    package let code: Code
    /// One fixed phrase for the log; it never quotes input.
    package let reason: StaticString

    package init(_ code: Code, _ reason: StaticString) {
        self.code = code
        self.reason = reason
    }

    /// The status that answers a request refused for this; for a response it is 502 whatever this says.
    package var status: Int {
        switch self.code {
        case .targetTooLong: 414
        case .headTooLong, .tooManyFields: 431
        case .expectation: 417
        case .unknownTransferCoding: 501
        case .unsupportedVersion: 505
        default: 400
        }
    }

    package var description: String { "\(self.code.rawValue): \(self.reason)" }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
