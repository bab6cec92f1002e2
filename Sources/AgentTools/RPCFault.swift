/// Why a message is answered with an error (JSON-RPC 2.0 section 5.1).
package struct RPCFault: Error, Sendable, Equatable {
    /// The codes of JSON-RPC 2.0 and of the Model Context Protocol.
    package enum Code: Int64, Sendable {
        case parseError = -32700
        case invalidRequest = -32600
        case methodNotFound = -32601
        case invalidParams = -32602
        case internalError = -32603
        /// A header field does not say the same as the body.
        case headerMismatch = -32020
        case unsupportedVersion = -32022
    }
    /// The kind of fault.
    package let code: Code
    /// Fixed text for the client.
    package let message: String
    /// The request; nil if its id could not be read.
    package var id: RPCID?
    /// The revision that was asked for, where it is not supported.
    package var requestedVersion: String?

    package init(_ code: Code, _ message: String, id: RPCID? = nil, requestedVersion: String? = nil) {
        self.code = code
        self.message = message
        self.id = id
        self.requestedVersion = requestedVersion
    }

    /// The HTTP status, where no stream has begun: 400 for a message that can't be used.
    package func status(_ era: ToolEra) -> Int {
        switch code {
        case .parseError, .invalidRequest, .headerMismatch, .unsupportedVersion: 400
        case .methodNotFound: era == .single ? 404 : 200
        case .invalidParams: era == .single ? 400 : 200
        case .internalError: 200
        }
    }

    /// Equality of the codes.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
