import Encodings
import Foundation

@testable import HostileTokens

/// A gateway without sockets: it parses the request's bytes and asks a verifier.
struct MemoryGateway: Sendable {
    let accepts: @Sendable ([UInt8]) -> Bool
    /// Whether it also accepts tokens in the query and in several fields.
    var takesAnyCarrier = false
    /// How plain requests send their token.
    var carrier = Transport.authorization

    init(accepts: @escaping @Sendable ([UInt8]) -> Bool) {
        self.accepts = accepts
    }

    func answer(_ request: RawRequest) throws -> RawResponse {
        guard request.bytes.count <= 32 * 1024 else { return RawResponse(status: 431) }
        guard let message = Message(request.bytes) else { return RawResponse(status: 400) }
        switch message.path {
        case "/api/auth/me": return RawResponse(status: plainStatus(message))
        case "/api/runtime/agent": return RawResponse(status: upgradeStatus(message))
        case "/oauth2/introspect":
            guard message.values("authorization").count == 1 else { return RawResponse(status: 401) }
            let token = Message.parameter("token", in: message.body[...]) ?? []
            let body = accepts(token) ? #"{"active":true}"# : #"{"active":false}"#
            return RawResponse(status: 200, body: Array(body.utf8))
        default: return RawResponse(status: 404)
        }
    }

    private func plainStatus(_ message: Message) -> Int {
        let tokens = message.values("authorization").map(Self.bearer)
        if let query = Message.parameter("access_token", in: message.query) {
            let isAlone = tokens.isEmpty && carrier == .query
            return takesAnyCarrier || isAlone ? accepts(query) ? 200 : 401 : 400
        }
        if carrier == .body {
            return accepts(Message.parameter("access_token", in: message.body[...]) ?? []) ? 200 : 401
        }
        if carrier == .cookie, let cookie = message.values("cookie").first {
            return accepts(Array(cookie.dropFirst("gate=".utf8.count))) ? 200 : 401
        }
        guard tokens.count <= 1 || takesAnyCarrier else { return 400 }
        return tokens.contains { $0.map(accepts) ?? false } ? 200 : 401
    }

    private func upgradeStatus(_ message: Message) -> Int {
        var token = Message.parameter("access_token", in: message.query)
        if token == nil { token = message.values("authorization").first.flatMap(Self.bearer) }
        if token == nil, let offer = message.values("sec-websocket-protocol").first {
            let parts = String(decoding: offer, as: UTF8.self).components(separatedBy: ", ")
            token = parts.first { $0.hasPrefix("bearer.") }.map { Array($0.utf8.dropFirst(7)) }
        }
        if token == nil, let cookie = message.values("cookie").first {
            token = Array(cookie.dropFirst("session=".utf8.count))
        }
        return token.map(accepts) ?? false ? 101 : 401
    }

    private static func bearer(_ value: [UInt8]) -> [UInt8]? {
        let scheme = String(decoding: value.prefix(7), as: UTF8.self)
        return scheme.lowercased() == "bearer " ? Array(value.dropFirst(7)) : nil
    }
}

/// A parsed request; nil for bytes that HTTP does not allow.
private struct Message {
    let path: String
    let query: ArraySlice<UInt8>
    let fields: [(name: String, value: [UInt8])]
    let body: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        body = Array(bytes[end.upperBound...])
        var lines: [[UInt8]] = [[]]
        for byte in bytes[..<end.lowerBound] {
            if byte == 0x0A { lines.append([]) } else { lines[lines.count - 1].append(byte) }
        }
        let target = lines[0].split(separator: 0x20)[1]
        let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        path = String(decoding: target[..<mark], as: UTF8.self)
        query = target[mark...].dropFirst()
        var fields: [(name: String, value: [UInt8])] = []
        for var line in lines.dropFirst() {
            if line.last == 0x0D { line.removeLast() }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                line.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) })
            else { return nil }
            fields.append((String(decoding: line[..<colon], as: UTF8.self).lowercased(), Array(line[(colon + 2)...])))
        }
        self.fields = fields
    }

    func values(_ name: String) -> [[UInt8]] {
        fields.filter { $0.name == name }.map(\.value)
    }

    static func parameter(_ name: String, in text: ArraySlice<UInt8>) -> [UInt8]? {
        for pair in text.split(separator: UInt8(ascii: "&")) where pair.starts(with: Array("\(name)=".utf8)) {
            var result: [UInt8] = []
            var rest = pair.dropFirst(name.utf8.count + 1)
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "%") else {
                    result.append(byte)
                    continue
                }
                result.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            }
            return result
        }
        return nil
    }
}
