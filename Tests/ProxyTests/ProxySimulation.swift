import Answers
import HTTPWire
import NIOCore
import RandomForTests

@testable import Proxy

/// A client, upstreams and a clock around one ``ProxyMachine``, in an order that a seed decides.
///
/// The simulation carries out the machine's actions as ``ProxyExchange`` does, and records what the client sent and
/// got, and what each connection carried. It calls back in the middle of an action, as real connections do.
struct ProxySimulation {
    enum ClientEnd { case whole, gone }

    /// What the upstream says on one connection.
    struct Script {
        var bytes: [UInt8]
        /// The body that is in them, and whether they hold a whole answer.
        var body: [UInt8]
        var isWhole: Bool
        var status: Int
        var endsByClose: Bool
        /// Whether others may see another end of this answer.
        var isContradictory: Bool
        var closes: Bool
        var isBroken: Bool
    }

    struct Link {
        var script: Script
        var isPooled: Bool
        var heads = 0
        var body: [UInt8] = []
        var hasEnd = false
        var sent = 0
        var isClosed = false
        var released: Bool?
        var hasFlushed = false
    }

    var random: SeededGenerator
    var machine: ProxyMachine
    let framing: BodyFraming
    let method: RequestMethod
    let body: [UInt8]
    var unsent: ArraySlice<UInt8>
    var hasSentEnd: Bool
    let clientEnd: ClientEnd
    let leavesEarly: Bool

    var links: [Link] = []
    /// How many upstreams there are, and how many of them could not be reached.
    let members: Int
    var failed = 0
    var isConnectDue = false
    /// Whether a connection was asked for.
    var hasConnected = false
    var mayPool = true
    var isPaused = false
    var clientTakes = true
    var upstreamTakes = true
    var isInAction = false
    var isLeaseOver = false

    // What the client saw.
    var answerStarted: Link?
    var answerBody: [UInt8] = []
    var endings: [String] = []
    var settled = 0
    var problem: String?
    var faults: [String] = []
    var pausedWhileDelivering = 0

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let methods: [RequestMethod] = [.get, .post, .put, .head, .delete, .patch, .options]
        method = methods.randomElement(using: &random) ?? .get
        let size = [0, 1, 7, 40, 300].randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: framing = .none
        case 1: framing = .length(Int64(size))
        default: framing = .chunked
        }
        body = framing == .none ? [] : (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(seed)) }
        unsent = body[...]
        hasSentEnd = framing == .none
        members = Int.random(in: 1...2, using: &random)
        leavesEarly = Int.random(in: 0..<8, using: &random) == 0
        clientEnd = leavesEarly ? .gone : .whole
        machine = ProxyMachine(
            ProxyMachine.Terms(
                framing: framing, method: method,
                maxBody: Int.random(in: 0..<20, using: &random) == 0 ? 20 : nil,
                isLeased: Bool.random(using: &random), isJudged: Bool.random(using: &random)))
        self.random = random
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func fault(_ text: String) { faults.append(text) }
}

extension ProxySimulation {
    mutating func script() -> Script {
        let status = chance(5) ? [204, 304].randomElement(using: &random) ?? 204 : 200
        let size = [0, 3, 50, 200].randomElement(using: &random) ?? 0
        var body = (0..<size).map { UInt8(truncatingIfNeeded: 255 &- $0) }
        var head = chance(6) ? "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" : ""
        head += "HTTP/1.1 \(status) X\r\n"
        if chance(5) { head += "Content-Type: text/event-stream\r\n" }
        let hasNoBody = method == .head || status != 200
        var wire: [UInt8] = []
        var endsByClose = false
        var isContradictory = false
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            head += "Content-Length: \(size)\r\n"
            isContradictory = hasNoBody && size > 0
            wire = body
        case 1 where status != 204:
            head += "Transfer-Encoding: chunked\r\n"
            isContradictory = hasNoBody
            var rest = body[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...60, using: &random))
                rest = rest.dropFirst(part.count)
                wire += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
            }
            wire += Array("0\r\n\r\n".utf8)
        default:
            endsByClose = !hasNoBody
            wire = body
            if hasNoBody { wire = [] }
        }
        if hasNoBody {
            wire = []
            body = []
        }
        if chance(10) { head += "Connection: close\r\n" }
        var bytes = Array((head + "\r\n").utf8) + wire
        var isWhole = true
        if chance(8) {
            // Cut short, or broken.
            isWhole = false
            if chance(2) {
                bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            } else {
                bytes = Array("??".utf8)
            }
        }
        let closes = endsByClose || !isWhole || chance(6)
        return Script(
            bytes: bytes, body: body, isWhole: isWhole, status: status, endsByClose: endsByClose,
            isContradictory: isContradictory, closes: closes, isBroken: closes && chance(3))
    }
}
