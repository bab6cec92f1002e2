import Foundation
import JOSE
import Primitive

// jose-benchmark rates                          the rates of all implementations in this process
// jose-benchmark refusals                       the time that a refusal takes
// jose-benchmark allocations                    the allocations of a verification; needs the preloaded counter
// jose-benchmark count WHO ALG OPERATION COUNT PEM  COUNT operations, for callgrind
// jose-benchmark files DIRECTORY                writes keys and tokens for the other programs

let arguments = CommandLine.arguments.dropFirst()

switch arguments.first {
case "rates": try await printRates()
case "refusals": try await printRefusals()
case "allocations": try printAllocations()
case "count" where arguments.count == 6: try await repeatOperation(Array(arguments.dropFirst()))
case "files" where arguments.count == 2: try writeFiles(arguments[2])
default:
    FileHandle.standardError.write(Data("see main.swift\n".utf8))
    exit(2)
}

func printRates() async throws {
    for algorithm in Subject.algorithms {
        let subject = try Subject(algorithm)
        for operation in ["verify", "sign"] {
            let contenders = try await Contender.all(subject, signing: operation == "sign")
            for (contender, seconds) in zip(contenders, try await race(contenders)) {
                print("rate", contender.name, algorithm.rawValue, operation, Int(1 / seconds))
            }
        }
    }
}

/// Compares a wrong signature with malformed tokens of several kinds.
func printRefusals() async throws {
    for algorithm in Subject.algorithms {
        let subject = try Subject(algorithm)
        let good = subject.token
        let header = Array(good[..<(good.firstIndex(of: UInt8(ascii: ".")) ?? 0)])
        let rest = Array(good[header.count...])
        var flipped = good
        flipped[good.count - 20] = good[good.count - 20] == 0x41 ? 0x42 : 0x41
        var foreign = good
        foreign[good.count - 1] = UInt8(ascii: "=")
        let tokens: [(String, [UInt8])] = [
            ("bad-signature", flipped), ("two-segments", Array(good[..<subject.inputCount])),
            ("foreign-letter", foreign),
            ("four-segments", good + Array(".AA".utf8)), ("too-large", [UInt8](repeating: 0x41, count: 8193)),
            ("header-no-json", Base64URL.encodeBytes(Array(#"{"alg":"ES256","typ":"at+jwt",}"#.utf8)) + rest),
            ("header-twice-alg", Base64URL.encodeBytes(Array(#"{"alg":"ES256","alg":"none"}"#.utf8)) + rest),
        ]
        let contenders = tokens.map { name, token in
            Contender(name: name) { count in
                for _ in 0..<count where subject.isVerified(token) { return false }
                return true
            }
        }
        for (contender, seconds) in zip(contenders, try await race(contenders, rounds: 60)) {
            print("refusal", contender.name, algorithm.rawValue, Int(seconds * 1e9))
        }
    }
}

/// Uses claims whose names and values fit into strings without allocations, so that all allocations are the parser's.
func printAllocations() throws {
    guard primitive_allocations() >= 0 else { throw BenchmarkError("the counter is not preloaded") }
    for count in [8, 16, 32, 64, 256, 1000] {
        var claims: JSONObject = ["exp": 2_000_000_000]
        for number in 1..<count { claims.append("c\(number)", .integer(Int64(number))) }
        let subject = try Subject(.es256, claims: claims)
        let limits = TokenLimits(maxBytes: 65_536)
        var token: UnverifiedToken?
        func verify() throws {
            token = try UnverifiedToken(subject.token, limits: limits)
            _ = token?.verify(with: subject.key.verificationKey, rules: ClaimsRules(), now: Subject.now)
        }
        for _ in 0..<10 { try verify() }
        let before = primitive_allocations()
        for _ in 0..<100 { try verify() }
        print("allocations", count, Double(primitive_allocations() - before) / 100)
    }
}

func repeatOperation(_ words: [String]) async throws {
    guard let algorithm = SignatureAlgorithm(rawValue: words[1]), let count = Int(words[3]) else {
        throw BenchmarkError("WHO ALG OPERATION COUNT PEM")
    }
    // The key comes from a file, because generating one takes a different number of instructions each time.
    let subject = try Subject(algorithm, pem: String(contentsOfFile: words[4], encoding: .utf8))
    let signing = words[2] == "sign"
    let contender =
        switch words[0] {
        case "bare": try Contender.bare(subject, signing: signing)
        case "JOSE": Contender.jose(subject, signing: signing)
        default: try await Contender.jwtKit(subject, signing: signing)
        }
    guard try await contender.run(count) else { throw BenchmarkError("it failed") }
}

func writeFiles(_ directory: String) throws {
    for algorithm in Subject.algorithms {
        let subject = try Subject(algorithm)
        let name = "\(directory)/\(algorithm.rawValue)"
        try Data(subject.pem.utf8).write(to: URL(fileURLWithPath: name + ".private.pem"))
        try Data(try subject.key.verificationKey.pem().utf8).write(to: URL(fileURLWithPath: name + ".public.pem"))
        // libjwt accepts no other typ.
        let token = try subject.key.sign(claims: Subject.claims, type: "JWT")
        try Data(token.utf8).write(to: URL(fileURLWithPath: name + ".token"))
    }
    try Data(Subject.claims.serializedBytes()).write(to: URL(fileURLWithPath: "\(directory)/claims.json"))
}
