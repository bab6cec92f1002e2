/// Upstreams that speak WebSocket, as far as a relay has to know it.
extension RecordingUpstream {
    /// The right answer to a ``WebSocketProbe``, whose key is always the same.
    static let upgradeAnswer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(WebSocketProbe.accept)\r\n\r\n"

    /// Upgrades, and sends what arrives back as the payload of binary frames; other requests get the plain answer.
    static let mirror: Script = { request, stream in
        guard request["upgrade"] != nil else {
            try stream.send(plainAnswer)
            return .keep
        }
        try stream.send(upgradeAnswer)
        while case let bytes = try stream.readSome(), !bytes.isEmpty {
            try stream.send([0x82, UInt8(min(bytes.count, 125))] + bytes.prefix(125))
        }
        return .close
    }
}
