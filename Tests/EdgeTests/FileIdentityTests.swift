import Foundation
import Testing

@testable import Edge

@Suite("Whether a file is still the same") struct FileIdentityTests {
    /// A directory of its own.
    private static func makeFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.path
    }

    private static func write(_ text: String, _ path: String, modified: Date) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: path)
    }

    @Test("A link far up the path that leads to another file is noticed, also if size and time are the same")
    func linkedDirectory() throws {
        let folder = try Self.makeFolder()
        let now = Date()
        for name in ["..1", "..2"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
            try Self.write(name, "\(folder)/\(name)/tls.crt", modified: now)
        }
        let (file, data) = ("\(folder)/tls.crt", "\(folder)/..data")
        try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: "..1")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "..data/tls.crt")
        let before = try #require(FileIdentity(of: file))
        #expect(FileIdentity(of: file) == before)
        try FileManager.default.removeItem(atPath: data)
        #expect(FileIdentity(of: file) == nil, "the link leads nowhere")
        try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: "..2")
        #expect(FileIdentity(of: file) != before)
    }

    @Test("A file that is written in place is noticed by its size, and by its time")
    func written() throws {
        let path = try Self.makeFolder() + "/file"
        let now = Date()
        try Self.write("one", path, modified: now)
        let before = try #require(FileIdentity(of: path))
        try Self.write("three", path, modified: now)
        #expect(FileIdentity(of: path) != before)
        try Self.write("two", path, modified: now)
        #expect(FileIdentity(of: path) == before, "the same size and time")
        try Self.write("two", path, modified: now.addingTimeInterval(0.001))
        #expect(FileIdentity(of: path) != before)
    }
}
