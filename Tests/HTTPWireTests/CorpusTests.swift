import Foundation
import HTTPWire
import NIOCore
import RandomForTests
import Testing

@Suite("The corpus")
struct CorpusTests {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    static let names: [String] = {
        let all = try? FileManager.default.contentsOfDirectory(atPath: directory.path())
        return (all ?? []).filter { $0.hasSuffix(".http") }.sorted()
    }()

    @Test("is present") func isThere() { #expect(Self.names.count > 20) }

    /// A file is named `accept-N-…` for N complete messages, or `refuse-STATUS-…`.
    @Test("is read as its names say", arguments: names)
    func replay(name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.directory.appending(path: name)))
        let parts = name.split(separator: "-")
        let number = try #require(parts.count > 2 ? Int(parts[1]) : nil)
        for step in [Int.max, 1, 3] {
            let connection = FramedConnection.requests(bytes, step: step)
            if parts[0] == "accept" {
                #expect(connection.messages.filter(\.isComplete).count == number && connection.left == 0)
                #expect(connection.stop == .none || connection.stop == .ends)
            } else if case .refused(let code) = connection.stop {
                #expect(WireError(code, "").status == number)
            } else {
                Issue.record("not refused")
            }
        }
    }
}
