import BasicsForTests
import Encodings
import JOSE
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Verified-token cache")
struct VerifiedTokenCacheTests {
    let fixture: Fixture
    let cache: VerifiedTokenCache

    init() async throws {
        fixture = try await Fixture()
        cache = VerifiedTokenCache(fixture.subject, byteLimit: 4 * 1024)
    }

    func ask(_ token: String) -> Result<Principal, TokenFault> {
        cache.principal(for: Array(token.utf8), now: fixture.clock.now)
    }

    @Test("A hit is the very principal of the first check")
    func hit() async throws {
        let token = try await fixture.login().accessToken
        let first = try ask(token).get()
        #expect(try ask(token).get() === first)
        #expect(cache.count == 1)
    }

    @Test("A token that ends like a kept one and begins otherwise is judged by itself, and the kept one stays")
    func sameEnd() async throws {
        let token = try await fixture.login().accessToken
        let first = try ask(token).get()
        var forged = Array(token.utf8)
        let place = try #require(forged.firstIndex(of: UInt8(ascii: "."))) + 10
        forged[place] = forged[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(forged.suffix(64).elementsEqual(token.utf8.suffix(64)))
        #expect(ask(String(decoding: forged, as: UTF8.self)).fault != nil)
        #expect(try ask(token).get() === first)
    }

    @Test("A hit ends exactly when the token does")
    func expiry() async throws {
        let token = try await fixture.login().accessToken
        #expect(ask(token).isGood)
        fixture.clock.advance(by: 900_000 + 30_000 - 1)
        #expect(ask(token).isGood)
        fixture.clock.advance(by: 1)
        #expect(ask(token).fault?.code == .tokenExpired)
        #expect(cache.count == 0)
    }

    @Test("A clock that steps back before the token's issue makes no hit")
    func stepBack() async throws {
        let token = try await fixture.login().accessToken
        #expect(ask(token).isGood)
        fixture.clock.advance(by: -3_600_000)
        #expect(ask(token).fault?.code == .invalidToken)
    }

    @Test("A revocation is obeyed at the next question, by jti, family and subject", arguments: ["jti", "fid", "sub"])
    func revocation(kind: String) async throws {
        let tokens = try await fixture.login()
        #expect(ask(tokens.accessToken).isGood)
        switch kind {
        case "jti": try await fixture.subject.revoke(token: tokens.principal)
        case "fid": _ = try await fixture.subject.endFamily(tokens.familyID)
        default: _ = try await fixture.subject.accounts.disable(userID: tokens.principal.subject)
        }
        #expect(ask(tokens.accessToken).fault?.reason == "revoked")
        #expect(cache.count == 0)
    }

    @Test("The revocation of another token costs one check and no entry")
    func unrelatedRevocation() async throws {
        let token = try await fixture.login().accessToken
        let first = try ask(token).get()
        fixture.state.tell(.revoked(Revocation(kind: .token, id: "other", expiresAt: .max / 2)))
        #expect(try ask(token).get() === first)
    }

    @Test("The valid twin of an ECDSA signature falls with the same revocation")
    func twin() async throws {
        let tokens = try await fixture.login()
        let twin = try Self.twin(of: tokens.accessToken)
        #expect(ask(tokens.accessToken).isGood)
        #expect(ask(twin).isGood)
        #expect(twin != tokens.accessToken)
        try await fixture.subject.revoke(token: tokens.principal)
        #expect(ask(twin).fault?.reason == "revoked")
        #expect(ask(tokens.accessToken).fault?.reason == "revoked")
    }

    @Test("Every single changed byte of a remembered token is refused")
    func changedBytes() async throws {
        let token = Array(try await fixture.login().accessToken.utf8)
        #expect(ask(String(decoding: token, as: UTF8.self)).isGood)
        for index in stride(from: 0, to: token.count, by: 7) {
            var changed = token
            changed[index] ^= 1
            #expect(!cache.principal(for: changed, now: fixture.clock.now).isGood, "byte \(index)")
        }
        #expect(!cache.principal(for: token.dropLast(), now: fixture.clock.now).isGood)
        #expect(!cache.principal(for: token + [0x41], now: fixture.clock.now).isGood)
    }

    @Test("A token outlives the rotation of its key, and dies with its retirement")
    func keyLife() async throws {
        let token = try await fixture.login().accessToken
        let first = try ask(token).get()
        let old = fixture.subject.keyRing.signingKey.verificationKey.keyID
        fixture.clock.advance(by: 1)
        _ = try fixture.subject.keyDirectory.rotate(immediately: true)
        try await fixture.subject.reload()
        #expect(fixture.subject.keyRing.signingKey.verificationKey.keyID != old)
        #expect(try ask(token).get() === first)
        _ = try fixture.subject.keyDirectory.retire(keyID: old)
        try await fixture.subject.reload()
        #expect(ask(token).fault?.reason == "key_unknown")
        #expect(cache.count == 0)
    }

    @Test("It never holds more than it may, and what is in use stays longest")
    func bounds() async throws {
        let account = try await fixture.account()
        var tokens: [String] = []
        for _ in 0..<12 { tokens.append(try await fixture.subject.openFamily(for: account).accessToken) }
        let favourite = try ask(tokens[0]).get()
        for token in tokens.dropFirst() {
            #expect(ask(token).isGood)
            #expect(try ask(tokens[0]).get() === favourite)
            #expect(cache.count <= 4)
        }
        let small = VerifiedTokenCache(fixture.subject, byteLimit: 2 * 1024)
        for token in tokens { #expect(small.principal(for: Array(token.utf8), now: fixture.clock.now).isGood) }
        #expect((1...2).contains(small.count))
    }

    @Test("Refused tokens take no room")
    func refusedIsNotKept() {
        for index in 0..<100 { #expect(!ask("e30.e30.\(index)").isGood) }
        #expect(cache.count == 0)
    }

    /// The other signature of the same message and key: (r, n − s).
    static func twin(of token: String) throws -> String {
        let dot = try #require(token.lastIndex(of: "."))
        var signature = try #require(Base64URL.decode(String(token[token.index(after: dot)...])))
        try #require(signature.count == 64)
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            signature[32 + index] = UInt8(difference + borrow * 256)
        }
        return token[...dot] + Base64URL.encode(signature)
    }
}
