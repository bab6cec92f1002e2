import HTTPWire
import NIOHTTP2
import Testing

@testable import Edge

/// A stream of HTTP/2 without a channel: every event in every state.
@Suite struct HTTP2StreamMachineTests {
    private typealias Machine = HTTP2StreamMachine

    /// The states, each as what leads to it. `…Whole` is a request that the client has ended.
    enum Standing: String, CaseIterable {
        case awaited, open, whole, malformed, unreadable, connect
        case body, bodyWhole, headHeld, ending, ended, endedWhole
        case tunnel, tunnelHalf, tunnelEnding, tunnelEnded, refusedTunnel, reset, endedMalformed
    }

    private static func head(_ method: String = "GET") throws -> RequestHead {
        var builder = try RequestHeadBuilder(method: method, target: "/s")
        try builder.add("Host", "h")
        return try builder.finish()
    }

    private static func machine(_ standing: Standing) throws -> Machine {
        var machine = Machine()
        func begin(endsStream: Bool = false, isTunnel: Bool = false) throws {
            _ = machine.received(.request(try head(), isTunnel: isTunnel), endsStream: endsStream)
        }
        switch standing {
        case .awaited: break
        case .open, .body, .ending, .ended: try begin()
        case .whole, .bodyWhole, .headHeld, .endedWhole, .reset: try begin(endsStream: true)
        case .malformed, .endedMalformed: _ = machine.received(.refused(nil, isHead: false), endsStream: false)
        case .unreadable: _ = machine.received(.refused(WireError(.fieldName, ""), isHead: false), endsStream: false)
        case .connect, .tunnel, .tunnelHalf, .tunnelEnding, .tunnelEnded, .refusedTunnel: try begin(isTunnel: true)
        }
        switch standing {
        case .awaited, .open, .whole, .malformed, .unreadable, .connect: break
        case .body, .bodyWhole: _ = machine.startAnswer(status: 200, endsStream: false)
        case .headHeld: _ = machine.startAnswer(status: 200, endsStream: true)
        case .ending, .ended, .endedWhole, .endedMalformed:
            _ = machine.startAnswer(status: 200, endsStream: false)
            _ = machine.finishAnswer()
            if standing != .ending { machine.lastFrameSent() }
        case .tunnel, .tunnelHalf, .tunnelEnding, .tunnelEnded:
            _ = machine.openTunnel()
            if standing == .tunnelHalf { _ = machine.receivedEnd() }
            if standing == .tunnelEnding || standing == .tunnelEnded { _ = machine.finishAnswer() }
            if standing == .tunnelEnded { machine.lastFrameSent() }
        case .refusedTunnel: _ = machine.startAnswer(status: 200, endsStream: false)
        case .reset: _ = machine.close(outputOnly: false)
        }
        return machine
    }

    enum Event: String, CaseIterable {
        case takesData, inputEnd, interim, start, startWhole, openTunnel, takesBody, finish, closeOutput, close
    }

    private static func apply(_ event: Event, to machine: inout Machine) -> String {
        switch event {
        case .takesData: machine.takesData ? "yes" : "-"
        case .inputEnd:
            switch machine.receivedEnd() {
            case .nothing: "-"
            case .end: "end"
            case .inputClosed: "closed"
            case .head, .unreadableHead: "head"
            }
        case .interim: machine.takesInterim ? "yes" : "-"
        case .start: word(machine.startAnswer(status: 403, endsStream: false))
        case .startWhole: word(machine.startAnswer(status: 200, endsStream: true))
        case .openTunnel: machine.openTunnel() ? "yes" : "-"
        case .takesBody: machine.takesBody ? "yes" : "-"
        case .finish:
            switch machine.finishAnswer() {
            case .none: "-"
            case .head: "head"
            case .emptyData: "data"
            }
        case .closeOutput: word(machine.close(outputOnly: true))
        case .close: word(machine.close(outputOnly: false))
        }
    }

    private static func word(_ start: Machine.Start) -> String { start == .nothing ? "-" : "\(start)" }

    private static func word(_ close: Machine.Close) -> String {
        switch close {
        case .nothing: "-"
        case .endTunnel(let closesSoon): closesSoon ? "end, close" : "end"
        case .close(nil): "close"
        case .close(.noError?): "no error"
        case .close(.protocolError?): "protocol error"
        case .close(let code?): code == .cancel ? "cancel" : "\(code)"
        }
    }

    /// What each event leads to, in the order of `Event.allCases`; `-` is nothing.
    private static let table: [Standing: [String]] = [
        .awaited: ["-", "-", "yes", "write", "hold", "-", "-", "-", "cancel", "cancel"],
        .open: ["yes", "end", "yes", "write", "hold", "-", "-", "-", "cancel", "cancel"],
        .whole: ["-", "-", "yes", "write", "hold", "-", "-", "-", "cancel", "cancel"],
        .malformed: ["-", "-", "yes", "write", "hold", "-", "-", "-", "protocol error", "protocol error"],
        .unreadable: ["yes", "end", "yes", "write", "hold", "-", "-", "-", "cancel", "cancel"],
        .connect: ["yes", "closed", "yes", "write", "refuseTunnel", "yes", "-", "-", "cancel", "cancel"],
        .body: ["yes", "end", "-", "-", "-", "-", "yes", "data", "cancel", "cancel"],
        .bodyWhole: ["-", "-", "-", "-", "-", "-", "yes", "data", "cancel", "cancel"],
        .headHeld: ["-", "-", "-", "-", "-", "-", "-", "head", "cancel", "cancel"],
        // SwiftNIO resets a stream that is closed while its last frame waits for the window.
        .ending: ["yes", "end", "-", "-", "-", "-", "-", "-", "close", "close"],
        .ended: ["yes", "end", "-", "-", "-", "-", "-", "-", "no error", "no error"],
        .endedWhole: ["-", "-", "-", "-", "-", "-", "-", "-", "close", "close"],
        .tunnel: ["yes", "closed", "-", "-", "-", "-", "yes", "data", "end", "end, close"],
        .tunnelHalf: ["-", "-", "-", "-", "-", "-", "yes", "data", "end", "end, close"],
        .tunnelEnding: ["yes", "closed", "-", "-", "-", "-", "-", "-", "-", "close"],
        .tunnelEnded: ["yes", "closed", "-", "-", "-", "-", "-", "-", "-", "no error"],
        .refusedTunnel: ["yes", "end", "-", "-", "-", "-", "-", "-", "close", "close"],
        .reset: ["-", "-", "-", "-", "-", "-", "-", "-", "close", "close"],
        .endedMalformed: ["-", "-", "-", "-", "-", "-", "-", "-", "protocol error", "protocol error"],
    ]

    @Test("Every state answers every event as the table says", arguments: Standing.allCases)
    func rows(standing: Standing) throws {
        let row = try #require(Self.table[standing])
        #expect(row.count == Event.allCases.count)
        for (event, expected) in zip(Event.allCases, row) {
            var machine = try Self.machine(standing)
            let found = Self.apply(event, to: &machine)
            #expect(found == expected, "\(standing), \(event)")
        }
    }

    @Test("Only the first HEADERS are the request's, and how they end is passed on", arguments: [false, true])
    func heads(endsStream: Bool) throws {
        var machine = Machine()
        let first = machine.received(.request(try Self.head("POST"), isTunnel: false), endsStream: endsStream)
        guard case .head(_, isWhole: endsStream, isClosed: false) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(!machine.awaitsHead && machine.takesData == !endsStream)
        let second = machine.received(.request(try Self.head(), isTunnel: true), endsStream: false)
        guard case .nothing = second else {
            Issue.record("\(second)")
            return
        }
        #expect(!machine.isTunnel)
    }

    @Test("A client that ends its half with its CONNECT wants no tunnel")
    func closedTunnel() throws {
        for endsStream in [false, true] {
            var machine = Machine()
            let first = machine.received(.request(try Self.head(), isTunnel: true), endsStream: endsStream)
            guard case .head(_, isWhole: endsStream, isClosed: endsStream) = first else {
                Issue.record("\(first)")
                return
            }
        }
    }

    @Test("A malformed head is answered, and the stream is reset after it only if more was to come")
    func malformedHeads() {
        var whole = Machine()
        _ = whole.received(.refused(nil, isHead: true), endsStream: true)
        _ = whole.startAnswer(status: 400, endsStream: true)
        _ = whole.finishAnswer()
        whole.lastFrameSent()
        let close = whole.close(outputOnly: false)
        #expect(close == .close(nil))
    }

    @Test("Trailers that would frame the message make it malformed")
    func trailers() throws {
        var machine = try Self.machine(.open)
        let end = machine.receivedEnd(WireError(.fieldName, ""))
        guard case .end(let fault?) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(fault.code == .fieldName)
    }

    @Test("A tunnel that is refused has a body like any other answer")
    func refusedTunnel() throws {
        var machine = try Self.machine(.connect)
        let (start, opens) = (machine.startAnswer(status: 403, endsStream: false), machine.openTunnel())
        #expect(start == .write && !opens && machine.takesBody)
        let (last, end) = (machine.finishAnswer(), machine.receivedEnd())
        #expect(last == .emptyData)
        guard case .end = end else {
            Issue.record("\(end)")
            return
        }
    }

    @Test("A stream is reset once")
    func resets() throws {
        var machine = try Self.machine(.ended)
        let closes = [machine.close(outputOnly: false), machine.close(outputOnly: false)]
        #expect(closes == [.close(.noError), .close(nil)])
    }
}
