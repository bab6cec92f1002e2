import Answers
import EdgeCore
import HTTPWire
import NIOCore
import Testing

@testable import Edge

/// Streams, and how connections end.
extension ConnectionMachineTests {
    @Test("A stream's request comes taken apart, and ends with its stream")
    func stream() throws {
        var builder = try RequestHeadBuilder(method: "POST", target: "/s")
        try builder.add("Host", "h")
        try builder.add("Content-Length", "4")
        let head = try builder.finish()
        var machine = Machine(limits: WireLimits(), isStream: true)
        machine.received(head: head, isWhole: false)
        machine.received(head: head, isWhole: false)
        let begun = Self.actions(&machine)
        #expect(begun == ["dispatch /s"])
        let given = Self.actions(&machine, behind: Self.get)
        #expect(given == ["body \(Self.get)"], "a body is no head")
        machine.receivedEnd()
        let ended = Self.actions(&machine)
        #expect(ended == ["end"])
        let terms = machine.startAnswer(.length(0))
        #expect(terms?.closes == true)
        _ = machine.finishAnswer()
        let finished = Self.actions(&machine)
        #expect(finished == ["finish"])
        machine.outputFinished()
        let closed = Self.actions(&machine)
        #expect(closed == ["close"])
    }

    @Test("A stream's request that announces no body is whole with its head")
    func wholeStream() throws {
        var builder = try RequestHeadBuilder(method: "POST", target: "/s")
        try builder.add("Host", "h")
        try builder.add("Content-Length", "0")
        var machine = Machine(limits: WireLimits(), isStream: true)
        machine.received(head: try builder.finish(), isWhole: true)
        let actions = Self.actions(&machine)
        #expect(actions == ["dispatch /s", "end"])
    }

    @Test("What arrives at a connection that only waits for its client to close is bounded")
    func lingering() {
        var machine = Self.machine(.outputClosed)
        let block = ByteBuffer(repeating: 1, count: 64 * 1024)
        for number in 0...16 {
            machine.received(block)
            let actions = Self.actions(&machine)
            #expect(actions == (number < 16 ? [] : ["close"]))
        }
    }

    @Test("A gateway that stops sends the last answer to its end before it closes an idle connection")
    func drainedBehindOutput() {
        var machine = Machine(limits: WireLimits(), isStream: false)
        _ = Self.actions(&machine, behind: Self.get)
        _ = machine.startAnswer(.length(1))
        _ = machine.finishAnswer()
        _ = Self.actions(&machine)
        machine.drain()
        let drained = Self.actions(&machine)
        #expect(drained == ["finish"])
        let ignored = Self.actions(&machine, behind: Self.get)
        #expect(ignored.isEmpty, "no request is begun any more")
        machine.outputFinished()
        let closed = Self.actions(&machine)
        #expect(closed == ["close"])
    }

    @Test("A gateway that stops answers the first request of a new connection, and closes one that sends none")
    func drainedBeforeFirstRequest() {
        for parts in [["GET / HTTP/1.1\r\nHost: h\r\n\r\n"], ["GET / HTTP/1.1\r\n", "Host: h\r\n\r\n"]] {
            var machine = Machine(limits: WireLimits(), isStream: false)
            machine.drain()
            let drained = Self.actions(&machine)
            #expect(drained == ["arm moment"])
            for part in parts { machine.received(ByteBuffer(string: part)) }
            let begun = Self.actions(&machine)
            #expect(begun.contains("dispatch /"), "\(begun)")
            let terms = machine.startAnswer(.length(1))
            #expect(terms?.closes == true)
        }
        var silent = Machine(limits: WireLimits(), isStream: false)
        silent.drain()
        _ = Self.actions(&silent)
        silent.deadlinePassed(clientTakes: true)
        let closed = Self.actions(&silent)
        #expect(closed == ["close"])
        // One whose request is on its way is not cut off either.
        var partial = Machine(limits: WireLimits(), isStream: false)
        partial.received(ByteBuffer(string: "GET / HTTP/1.1\r\n"))
        _ = Self.actions(&partial)
        partial.drain()
        partial.received(ByteBuffer(string: "Host: h\r\n\r\n"))
        let whole = Self.actions(&partial)
        #expect(whole.contains("dispatch /"), "\(whole)")
    }

    @Test("A head that begins in the moment after the gateway stops gets the time of a head")
    func drainedInsideHead() {
        for isLate in [false, true] {
            var machine = Machine(limits: WireLimits(), isStream: false)
            if isLate { machine.openedWhileDraining() } else { machine.drain() }
            let moment = Self.actions(&machine)
            #expect(moment == ["arm moment"])
            let begun = Self.actions(&machine, behind: "GET / HTTP/1.1\r\n")
            #expect(begun == ["arm head"])
            let more = Self.actions(&machine, behind: "A: b\r\n")
            #expect(more.isEmpty, "each part of it would get the whole time")
            let whole = Self.actions(&machine, behind: "Host: h\r\n\r\n")
            #expect(whole.contains("dispatch /"), "\(whole)")
            let terms = machine.startAnswer(.length(1))
            #expect(terms?.closes == true)
        }
        var stream = Machine(limits: WireLimits(), isStream: true)
        stream.openedWhileDraining()
        let waiting = Self.actions(&stream)
        #expect(waiting.isEmpty && !stream.isClosed && stream.isDraining)
    }
}
