import Foundation
import Testing

@testable import gatehouse

/// Reading the copy of a store.
@Suite struct BackupReadingTests {
    @Test("A line of many megabytes is read in time that grows with its length alone")
    func longLine() throws {
        let path = NSTemporaryDirectory() + "gatehouse-backup-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let header = BackupFile.header(version: 1, at: 0) + "\n"
        try Data(header.utf8 + [UInt8](repeating: UInt8(ascii: "x"), count: 24 << 20) + [UInt8(ascii: "\n")])
            .write(to: URL(filePath: path))
        let reading = try BackupReading(path)
        #expect(try reading.header() == 1)
        let start = ContinuousClock.now
        #expect(throws: CommandFailure.self) { try reading.next() }
        // Searched again from its beginning with each part, it took minutes.
        #expect(ContinuousClock.now - start < .seconds(60))
    }
}
