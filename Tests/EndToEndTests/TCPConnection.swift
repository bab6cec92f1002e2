import Foundation
import Testing

/// One row of the kernel's table of TCP connections.
struct TCPConnection: Sendable {
    let localPort: Int
    let remotePort: Int
    /// When the next probe is due; nil when none is.
    let keepAliveSeconds: Int?

    /// Reads `sl local remote st queues timer:when …`; the times are hundredths of a second, all numbers hexadecimal.
    private init?(_ line: Substring) {
        let columns = line.split(separator: " ")
        guard columns.count > 5, columns[3] == "01" else { return nil }
        func port(_ address: Substring) -> Int? { address.split(separator: ":").last.flatMap { Int($0, radix: 16) } }
        let timer = columns[5].split(separator: ":")
        guard let local = port(columns[1]), let remote = port(columns[2]), timer.count == 2 else { return nil }
        localPort = local
        remotePort = remote
        keepAliveSeconds = timer[0] == "02" ? Int(timer[1], radix: 16).map { $0 / 100 } : nil
    }

    /// Those of this machine that are open both ways.
    static func established() throws -> [TCPConnection] {
        // The kernel says of this file that it is empty, so it has to be read until nothing more comes.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp"))
        defer { try? file.close() }
        var table = Data()
        while let part = try file.read(upToCount: 65_536), !part.isEmpty { table += part }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").compactMap { Self($0) }
    }
}
