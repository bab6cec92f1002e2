import Foundation

/// Requests as an attacker would send them.
extension GatewayUnderTest {
    /// Sends exactly these bytes on a connection of their own and reads one answer.
    func raw(_ bytes: [UInt8], toHead: Bool = false) throws -> RawResponse {
        let socket = try RawSocket(port: port)
        try? socket.send(bytes)
        return try socket.response(toHead: toHead)
    }

    func raw(_ text: String, toHead: Bool = false) throws -> RawResponse { try raw(Latin1.bytes(text), toHead: toHead) }

    /// The answer, and whether the gateway closed the connection behind it.
    func rawAndClose(_ bytes: [UInt8]) throws -> (answer: RawResponse, isClosed: Bool) {
        let socket = try RawSocket(port: port)
        try? socket.send(bytes)
        let answer = try socket.response()
        return (answer, (try? socket.isClosedByPeer()) ?? false)
    }
}

/// Text whose characters are bytes.
enum Latin1 {
    static func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

/// The claims of a compact JWS, unverified.
func claims(of token: String) -> [String: Any] { segment(1, of: token) }
func header(of token: String) -> [String: Any] { segment(0, of: token) }

private func segment(_ index: Int, of token: String) -> [String: Any] {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return [:] }
    var text = parts[index].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    let object = Data(base64Encoded: text).flatMap { try? JSONSerialization.jsonObject(with: $0) }
    return object as? [String: Any] ?? [:]
}
