import Glibc

/// Reads an audit log line by line.
enum AuditLines {
    /// A length in bytes that no written line reaches.
    private static let longestLine = 1 << 20

    /// Calls `body` with each complete line of a file, without its newline.
    static func each(in file: String, _ body: ([UInt8]) throws -> Void) throws {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure("\(file): \(FileBytes.reason(errno))") }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var line: [UInt8] = []
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure("\(file): \(FileBytes.reason(errno))") }
            if count == 0 { return }
            for byte in chunk.prefix(count) {
                if byte == UInt8(ascii: "\n") {
                    try body(line)
                    line.removeAll(keepingCapacity: true)
                } else if line.count < longestLine {
                    line.append(byte)
                }
            }
        }
    }
}
