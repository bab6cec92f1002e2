import JOSE
import Synchronization
import Testing

@testable import HostileTokens

/// What single probes take for a refusal, and what for none.
@Suite("Probes")
struct ProbeTests {
    private func conversation(
        _ wire: Wire, material: AttackMaterial? = nil, logins: [Login] = []
    ) -> Conversation {
        Conversation(
            target: target, transport: .authorization, token: material?.goodToken, material: material,
            accounts: Accounts(logins), wire: wire, environment: Runner.Environment(now: { now }))
    }

    @Test(
        "Whether a socket stayed open that sends more than is read is inconclusive",
        arguments: [(true, Verdict.inconclusive), (false, Verdict.failed)])
    func overflow(floods: Bool, verdict: Verdict) async throws {
        let probe = try #require(LeaseProbes.all.first { $0.id == "W10-logout" })
        let socket = FakeSocket(hasOverflowed: floods)
        var wire = Wire(send: { _ in RawResponse(status: 200, body: Array(#"{"access_token":"t"}"#.utf8)) })
        wire.open = { socket }
        let login = Login(path: "/login", email: "ada@example.com", password: "x")
        #expect(try await probe.judge(conversation(wire, logins: [login])).verdict == verdict)
    }

    @Test("The answer to a handshake may take as long as any other")
    func timeout() async throws {
        let probe = try #require(LeaseProbes.all.first { $0.id == "W10-logout" })
        let socket = FakeSocket(hasOverflowed: false)
        var wire = Wire(send: { _ in RawResponse(status: 200, body: Array(#"{"access_token":"t"}"#.utf8)) })
        wire.open = { socket }
        wire.timeout = .seconds(3)
        let login = Login(path: "/login", email: "ada@example.com", password: "x")
        _ = try await probe.judge(conversation(wire, logins: [login]))
        #expect(socket.limits.first == .seconds(3))
    }

    @Test("A connection that is closed has refused the token", arguments: ["J08-kid-flood", "J29-sub-html"])
    func closed(id: String) async throws {
        let probe = try #require(TokenProbes.all.first { $0.id == id })
        let material = try material(Keys.key(.es256))
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let wire = Wire(send: { request in
            if request == control { return RawResponse(status: 200) }
            throw SendFailure(.closed, "closed")
        })
        #expect(try await probe.judge(conversation(wire, material: material)).verdict == .passed)
    }

    @Test(
        "What arrived is also read with its percent-encoding decoded",
        arguments: [("a%2Eb", "a.b"), ("%2e%2B", ".+"), ("100%", "100%"), ("%2", "%2"), ("%zz%41", "%zzA")])
    func unquotes(text: String, plain: String) {
        #expect(Bytes.unquoted(Array(text.utf8)) == Array(plain.utf8))
    }
}

/// A socket that stays open. Its handshake is answered with 101.
private final class FakeSocket: WireStream {
    let hasOverflowed: Bool
    private let asked = Mutex<[Duration]>([])

    init(hasOverflowed: Bool) {
        self.hasOverflowed = hasOverflowed
    }

    /// How long each answer was waited for.
    var limits: [Duration] { asked.withLock { $0 } }

    func send(_ bytes: [UInt8]) async throws {}

    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool) {
        let count = asked.withLock { asked in
            asked.append(limit)
            return asked.count
        }
        return (count == 1 ? Array("HTTP/1.1 101 Switching Protocols\r\n\r\n".utf8) : [0x81, 2, 0x6F, 0x6B], false)
    }

    func close() async {}
}
