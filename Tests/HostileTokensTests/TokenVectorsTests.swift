import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("Vectors") struct TokenVectorsTests {
    private static func sets(_ attacks: [Attack] = AttackCatalogue.all) throws -> [JSONObject] {
        let file = try TokenVectors.file(attacks, now: now)
        // What is read is what was written.
        let read = try StrictJSON.object(
            Array(file.serialized().utf8),
            limits: JSONLimits(
                maxBytes: 64 << 20, maxMembers: 1 << 20, maxValues: 1 << 20, maxStringBytes: 1 << 20))
        #expect(read["format"]?.stringValue == TokenVectors.format)
        return read["sets"]?.arrayValue?.compactMap { $0.objectValue } ?? []
    }

    private static func bytes(_ vector: JSONObject) -> [UInt8]? {
        if let text = vector["token"]?.stringValue { return Array(text.utf8) }
        return vector["token_base64url"]?.stringValue.flatMap { Base64URL.decode($0.utf8) }
    }

    @Test("A strict verifier that knows only what a set says judges every vector of it as the set does")
    func strict() throws {
        let sets = try Self.sets()
        #expect(sets.compactMap { $0["algorithm"]?.stringValue } == ["ES256", "RS256", "EdDSA"])
        for set in sets {
            let text = try #require(set["key_set"]?.objectValue).serialized()
            let keys = try JWKSet(
                parsing: Array(text.utf8), policy: .remote, algorithms: SignatureAlgorithm.allCases)
            var rules = ClaimsRules.accessToken(
                issuer: try #require(set["issuer"]?.stringValue),
                audience: [try #require(set["audience"]?.stringValue)],
                leeway: 30)
            rules.maximumLifetime = 900
            let clock = Double(try #require(set["now"]?.int64Value))
            func accepts(_ token: [UInt8]) -> Bool {
                guard let token = try? UnverifiedToken(token),
                    case .success = token.verify(with: keys, rules: rules, now: clock)
                else { return false }
                return true
            }
            #expect(accepts(Array(try #require(set["good_token"]?.stringValue).utf8)))
            let vectors = set["vectors"]?.arrayValue?.compactMap { $0.objectValue } ?? []
            #expect(vectors.count > 300)
            for vector in vectors {
                let token = try #require(Self.bytes(vector))
                #expect(accepts(token) == vector["accept"]?.boolValue, "\(vector["id"]?.stringValue ?? "")")
            }
        }
    }

    @Test("Ids are unique in a set, and tokens beyond the limit are left out")
    func listed() throws {
        for set in try Self.sets(AttackCatalogue.attacks(in: [.size, .none])) {
            let ids = set["vectors"]?.arrayValue?.compactMap { $0.objectValue?["id"]?.stringValue } ?? []
            #expect(Set(ids).count == ids.count && !ids.contains("J26-size-1m") && ids.contains("J26-size-64k"))
        }
    }
}
