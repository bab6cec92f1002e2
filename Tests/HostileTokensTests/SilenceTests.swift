import JOSE
import Synchronization
import Testing

@testable import HostileTokens

/// What probes that expect nothing to arrive at the upstream make of a target that is silent.
@Suite("Silence")
struct SilenceTests {
    /// Probes of what arrives at the suite's own upstream, and one of what comes back.
    static let upstream = [
        "P01-smuggle-length-twice", "P01-smuggle-chunk-plus", "H01-desync-refused", "H01-desync-get",
        "W06-upstream-tunnel", "W06-upstream-pipelined",
    ]
    static let all = upstream + ["W06-pipelined-after-refusal"]

    private static let timeout = Duration.seconds(7)

    /// Judges a probe of a target that treats the attack in this way.
    private func judgement(_ id: String, _ socket: AttackedSocket) async throws -> Judgement {
        let probes = UpstreamProbes.all + DesyncProbes.all + TunnelProbes.all + SocketProbes.all
        let probe = try #require(probes.first { $0.id == id })
        let material = try material(Keys.key(.es256))
        var routed = target
        routed.canaryPath = "/canary"
        let upstream = socket.upstream
        var wire = Wire(
            send: { request in
                upstream.take(request.bytes)
                let isHandshake = request.bytes.firstRange(of: Array("Sec-WebSocket-Key".utf8)) != nil
                return RawResponse(status: isHandshake ? 101 : 200)
            },
            open: { socket }, arrivals: { upstream.requests(with: $0) })
        wire.timeout = Self.timeout
        return try await probe.judge(
            Conversation(
                target: routed, transport: .authorization, token: material.goodToken, material: material,
                accounts: Accounts([]), wire: wire, environment: Runner.Environment(now: { now })))
    }

    @Test("A target that neither answers nor closes in time has not been judged", arguments: all)
    func silent(id: String) async throws {
        let judgement = try await judgement(id, AttackedSocket(.isSilent))
        #expect(judgement.verdict == .inconclusive, "\(judgement.detail)")
        #expect(judgement.isSilent)
    }

    @Test("Nor has one that answers the first request alone", arguments: all)
    func halfAnswered(id: String) async throws {
        let judgement = try await judgement(id, AttackedSocket(.answersOnce))
        #expect(judgement.verdict == .inconclusive, "\(judgement.detail)")
        #expect(!judgement.isSilent)
    }

    @Test("One that refuses and closes passes, and is given the time that an answer may take", arguments: all)
    func refused(id: String) async throws {
        let socket = AttackedSocket(.refuses)
        let judgement = try await judgement(id, socket)
        #expect(judgement.verdict == .passed, "\(judgement.detail)")
        #expect(!socket.limits.isEmpty && socket.limits.allSatisfy { $0 == Self.timeout })
    }

    @Test("The last request that is sent asks for the end of the connection", arguments: upstream)
    func asksForTheEnd(id: String) async throws {
        let socket = AttackedSocket(.refuses)
        _ = try await judgement(id, socket)
        let ending = Array("\r\nConnection: close\r\n\r\n".utf8)
        #expect(socket.sent.suffix(ending.count).elementsEqual(ending))
    }

    @Test("What is passed on fails, whether the target then closes or not", arguments: upstream)
    func passedOn(id: String) async throws {
        for conduct in [AttackedSocket.Conduct.passesOn, .passesOnSilently] {
            let judgement = try await judgement(id, AttackedSocket(conduct))
            #expect(judgement.verdict == .failed, "\(conduct): \(judgement.detail)")
        }
    }

    @Test("What is passed on behind the end of the connection fails too", arguments: upstream)
    func passedOnLate(id: String) async throws {
        let judgement = try await judgement(id, AttackedSocket(.passesOnLate))
        #expect(judgement.verdict == .failed, "\(judgement.detail)")
    }
}

/// The suite's own upstream, in memory.
private final class MemoryUpstream: Sendable {
    private let state = Mutex<(arrived: [[UInt8]], delayed: [[UInt8]])>(([], []))

    /// A request arrives, and before it what was still on its way.
    func take(_ bytes: [UInt8]) {
        state.withLock { state in
            state.arrived += state.delayed + [bytes]
            state.delayed = []
        }
    }

    /// Bytes that arrive with the next request.
    func delay(_ bytes: [UInt8]) {
        state.withLock { $0.delayed.append(bytes) }
    }

    func requests(with text: String) -> [[UInt8]] {
        let wanted = Array(text.utf8)
        return state.withLock { $0.arrived.filter { $0.firstRange(of: wanted) != nil } }
    }
}

/// The connection on which the attack is made.
private final class AttackedSocket: WireStream {
    enum Conduct {
        /// It takes everything, answers nothing and stays open.
        case isSilent
        /// It answers one request and stays open.
        case answersOnce
        /// It answers one request and closes.
        case refuses
        /// It passes everything on to the upstream, answers one request and closes.
        case passesOn
        /// It passes everything on, answers nothing and stays open.
        case passesOnSilently
        /// It answers one request and closes; what it passes on arrives with the next request.
        case passesOnLate
    }

    let upstream = MemoryUpstream()
    private let conduct: Conduct
    private let log = Mutex<(sent: [UInt8], limits: [Duration])>(([], []))

    init(_ conduct: Conduct) {
        self.conduct = conduct
    }

    /// All bytes that were sent.
    var sent: [UInt8] { log.withLock { $0.sent } }
    /// How long each answer was waited for.
    var limits: [Duration] { log.withLock { $0.limits } }

    func send(_ bytes: [UInt8]) async throws {
        log.withLock { $0.sent += bytes }
        switch conduct {
        case .passesOn, .passesOnSilently: upstream.take(bytes)
        case .passesOnLate: upstream.delay(bytes)
        case .isSilent, .answersOnce, .refuses: break
        }
    }

    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool) {
        let isFirst = log.withLock { log in
            log.limits.append(limit)
            return log.limits.count == 1
        }
        let answer = isFirst ? Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8) : []
        switch conduct {
        case .isSilent, .passesOnSilently: return ([], false)
        case .answersOnce: return (answer, false)
        case .refuses, .passesOn, .passesOnLate: return (answer, true)
        }
    }

    func close() async {}
}
