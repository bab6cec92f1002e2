import Answers
import HTTPWire

/// The offers of `Sec-WebSocket-Protocol`, some of which carry credentials.
package struct Subprotocols {
    /// The gateway's own subprotocol: the one that is echoed back.
    package static let own = "gatehouse.v1"
    /// What an offer with an access token begins with.
    private static let bearer = "bearer."
    /// What an offer with a session's id begins with.
    private static let session = "session."

    /// What was offered as `bearer.<token>`.
    package var tokens: [[UInt8]] = []
    /// What was offered as `session.<id>`.
    package var sessions: [[UInt8]] = []
    /// The offers without credentials, which may be shown to others, in order.
    package var plain: [String] = []

    /// Whether one of the offers carries a credential.
    package var carriesCredentials: Bool { !tokens.isEmpty || !sessions.isEmpty }

    /// Whether the gateway's own subprotocol is among the offers.
    package var offersOwn: Bool { plain.contains(Self.own) }

    /// Reads every field of that name.
    ///
    /// - Throws: `invalid_request` for an offer that isn't a token (RFC 9110 section 5.6.2), and for more than 32
    ///   offers.
    package static func read(_ head: RequestHead) throws(Problem) -> Subprotocols {
        var found = Subprotocols()
        guard head.present.contains(.secWebSocketProtocol) else { return found }
        var count = 0
        for field in head.fields where field.id == .secWebSocketProtocol {
            let offers = head.withBytes(field.value) { Array($0).split(separator: UInt8(ascii: ","), maxSplits: 64) }
            for offer in offers {
                count += 1
                let trimmed = trim(offer)
                guard count <= 32, !trimmed.isEmpty, trimmed.allSatisfy(TokenByte.contains) else {
                    throw Problem(
                        .invalidRequest, detail: "Sec-WebSocket-Protocol is malformed.", reason: "subprotocol")
                }
                found.add(trimmed)
            }
        }
        return found
    }

    /// The offers of one field that carry no credential, in order; nil where none is left. Unlike ``read(_:)`` it takes
    /// what is no list of tokens, too, and leaves out what is no token: a credential might hide in it.
    package static func withoutCredentials(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
        var kept: [UInt8] = []
        for offer in Array(value).split(separator: UInt8(ascii: ",")) {
            let trimmed = trim(offer)
            guard !trimmed.isEmpty, trimmed.allSatisfy(TokenByte.contains), !looksLikeCredential(trimmed) else {
                continue
            }
            if !kept.isEmpty { kept += ", ".utf8 }
            kept += trimmed
        }
        return kept.isEmpty ? nil : kept
    }

    private mutating func add(_ offer: ArraySlice<UInt8>) {
        if offer.starts(with: Self.bearer.utf8) {
            tokens.append(Array(offer.dropFirst(Self.bearer.utf8.count)))
        } else if offer.starts(with: Self.session.utf8) {
            sessions.append(Array(offer.dropFirst(Self.session.utf8.count)))
        } else if !Self.looksLikeCredential(offer) {
            plain.append(String(decoding: offer, as: UTF8.self))
        }
    }

    /// Whether an offer, a token, begins as one with a credential, in any case. Only lower case is read as one, but
    /// others must not see the rest either.
    private static func looksLikeCredential(_ offer: ArraySlice<UInt8>) -> Bool {
        [bearer, session].contains { prefix in
            offer.count >= prefix.utf8.count && zip(offer, prefix.utf8).allSatisfy { $0 | 0x20 == $1 }
        }
    }

    private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = bytes
        while let first = slice.first, first == 0x20 || first == 0x09 { slice = slice.dropFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice = slice.dropLast() }
        return slice
    }
}
