/// Why a message was refused.
package struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rules that a message can break.
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

    /// The rule that was broken.
    package let code: Code
    /// A fixed phrase for the log, which quotes no input.
    package let reason: StaticString

    /// An error for a broken rule.
    package init(_ code: Code, _ reason: StaticString) {
        self.code = code
        self.reason = reason
    }

    /// The status of the answer to a request that was refused. A response that was refused is always answered with 502.
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

    /// Code and reason.
    package var description: String { "\(self.code.rawValue): \(self.reason)" }

    /// Equality of the codes; reasons are not compared.
    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
