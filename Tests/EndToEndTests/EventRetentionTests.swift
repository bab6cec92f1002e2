import Foundation
import Testing

/// A session keeps its last thousand events. Who comes for more is told so.
@Suite(.blocking) struct EventRetentionTests {
    private func intent(_ number: Int, _ padding: String = "") -> String {
        #"{"type":"intent","id":"i\#(number)","intent":"echo","params":{"p":"\#(padding)"}}"#
    }

    @Test("A place that is no longer kept is lost, and a socket that has fallen behind it is closed 1013")
    func gap() async throws {
        let gateway = try await GatewayInProcess.start("websocket:\n  ping: 1h")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let path = "/api/runtime/agent?\(ada.query)"
        let slow = try WebSocketProbe(gateway, path, receiveBuffer: 4096)
        #expect(try slow.message()?.json["type"] as? String == "ready")
        let quick = try gateway.opened(path)

        // More than the kernel takes for a client that does not read, then more than a session keeps.
        let padding = String(repeating: "p", count: 30_000)
        for number in 1...180 {
            try quick.send(text: intent(number, padding))
            #expect(try quick.message()?.json["seq"] as? Int == number)
        }
        try quick.send((181...1200).flatMap { WebSocketProbe.frame(1, Array(intent($0).utf8)) })
        for number in 181...1200 { #expect(try quick.message()?.json["seq"] as? Int == number) }

        // What had left for it comes, one by one; then that there is a gap.
        var last = 0
        var closing: WebSocketProbe.Frame?
        while closing == nil, let frame = try slow.message() {
            if frame.opcode == 8 {
                closing = frame
            } else {
                last += 1
                #expect(frame.json["seq"] as? Int == last)
            }
        }
        #expect(closing?.code == 1013 && closing?.reason == "overloaded")
        #expect(last > 0 && last < 200)

        // The border: 201 is the oldest that is kept.
        for (place, isLost) in [(last, true), (199, true), (0, true), (200, false), (1199, false)] {
            let back = try gateway.socket("\(path)&resume_from=\(place)")
            let ready = try #require(try back.message()).json
            #expect(ready["last_seq"] as? Int == 1200, "\(place)")
            #expect(ready["lost"] as? Bool == (isLost ? true : nil), "\(place)")
            #expect(ready["first_seq"] as? Int == (isLost ? 201 : nil), "\(place)")
            #expect(try back.message()?.json["seq"] as? Int == (isLost ? 201 : place + 1), "\(place)")
        }
        // The quick one has missed nothing and goes on.
        try quick.send(text: intent(1201))
        #expect(try quick.message()?.json["seq"] as? Int == 1201)
    }
}
