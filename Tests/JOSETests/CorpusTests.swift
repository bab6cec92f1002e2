import Foundation
import RandomForTests
import Testing

/// Replays `Tests/Corpus`: the seeds of the fuzzer, and every input that once revealed a defect.
@Suite struct CorpusTests {
    private static func files(_ parser: FuzzProperties) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Corpus").appendingPathComponent(parser.rawValue)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, Array(try Data(contentsOf: folder.appendingPathComponent(name))))
        }
    }

    @Test("The properties hold for every input of the corpus", arguments: FuzzProperties.allCases)
    func replay(parser: FuzzProperties) throws {
        let files = try Self.files(parser)
        #expect(files.count >= 5)
        for (name, bytes) in files { #expect(parser.violation(bytes) == nil, "\(parser.rawValue)/\(name)") }
    }

    @Test("The properties hold for mutations of the corpus", arguments: FuzzProperties.allCases)
    func mutations(parser: FuzzProperties) throws {
        let files = try Self.files(parser)
        var generator = SeededGenerator(seed: 8725)
        for round in 0..<2_000 {
            let name = files[round % files.count].name
            var bytes = files[round % files.count].bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                Self.mutate(&bytes, files.map(\.bytes), &generator)
            }
            #expect(parser.violation(bytes) == nil, "\(parser.rawValue)/\(name), round \(round)")
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ others: [[UInt8]], _ generator: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 3: bytes.insert(contentsOf: bytes.prefix(place).suffix(16), at: place)
        case 4: bytes = Array(bytes.prefix(place)) + (others.randomElement(using: &generator) ?? []).suffix(40)
        default: bytes.insert(Array("\"\\{}[],:.=-_ \n0".utf8).randomElement(using: &generator) ?? 0, at: place)
        }
    }
}
