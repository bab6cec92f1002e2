import Encodings

/// The messages of one request body.
package enum RPCBody: Sendable, Equatable {
    case one(RPCMessage)
    /// A batch, which only the revision 2025-03-26 knows.
    case many([RPCMessage])

    /// The largest body in bytes.
    package static let maximumBytes = 65_536
    /// The most messages of a batch.
    package static let maximumMessages = 16

    /// Reads a body.
    package init(_ bytes: [UInt8]) throws(RPCFault) {
        let value: JSONValue
        do {
            value = try StrictJSON.parse(
                bytes, limits: JSONLimits(maxBytes: Self.maximumBytes, maxStringBytes: Self.maximumBytes))
        } catch {
            throw RPCFault(.parseError, "The body is not JSON, or exceeds a limit.")
        }
        switch value {
        case .object(let object): self = .one(try RPCMessage(object))
        case .array(let list):
            guard (1...Self.maximumMessages).contains(list.count) else {
                throw RPCFault(.invalidRequest, "A batch has 1 to \(Self.maximumMessages) messages.")
            }
            var messages: [RPCMessage] = []
            for element in list {
                guard case .object(let object) = element else { throw RPCMessage.malformed }
                messages.append(try RPCMessage(object))
            }
            self = .many(messages)
        default: throw RPCMessage.malformed
        }
    }
}
