import Encodings
import Glibc
import Libcrypto
import StateSurface

/// Reads a copy of the store, one line at a time.
final class BackupReading {
    private let path: String
    private let descriptor: Int32
    /// What was read from the file, the lines that were returned among it until it is refilled.
    private var buffer: [UInt8] = []
    /// Where in the buffer the next line begins.
    private var position = 0
    /// Up to here the buffer is known to have no end of a line.
    private var searched = 0
    /// The number of the line that was asked for last, counted from 1; for messages.
    private var number = 0
    /// Of all lines so far; empty before the first.
    private var digest: [UInt8] = []
    /// Of all tables so far.
    private var rows: Int64 = 0

    /// Opens the file. Throws where that is not possible.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure("\(path): \(FileBytes.reason(errno))") }
    }

    deinit { close(descriptor) }

    /// The schema version that the first line states.
    func header() throws(CommandFailure) -> Int {
        guard let line = try nextLine(), let version = BackupFile.version(ofHeader: line) else {
            throw CommandFailure("\(path): is no copy made by 'gatehouse state backup'")
        }
        count(line)
        return version
    }

    /// The next item; nil after the last line, which must fit everything before it.
    func next() throws(CommandFailure) -> BackupItem? {
        guard let line = try nextLine() else { throw damaged("it is cut off") }
        if let footer = BackupFile.footer(line) {
            guard footer.rows == rows, footer.digest == Hexadecimal.text(digest), try nextLine() == nil else {
                throw damaged("it does not fit its own digest")
            }
            return nil
        }
        guard let item = BackupFile.item(line) else { throw damaged("the line can't be read") }
        count(line)
        if case .row = item { rows += 1 }
        return item
    }

    /// Adds a line to the digest.
    private func count(_ line: [UInt8]) { digest = Digest.sha256(digest + line) }

    /// The failure at the current line.
    private func damaged(_ why: String) -> CommandFailure { CommandFailure("\(path):\(number): \(why)") }

    /// The next line without its line feed; nil at the end of the file.
    private func nextLine() throws(CommandFailure) -> [UInt8]? {
        number += 1
        while true {
            if let end = buffer[max(position, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return Array(buffer[position..<end])
            }
            buffer.removeFirst(position)
            position = 0
            searched = buffer.count
            guard buffer.count <= BackupFile.longestLine else { throw damaged("the line is too long") }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure("\(path): \(FileBytes.reason(errno))") }
            if count == 0 {
                // A last line without its end is not returned: it is cut off.
                guard buffer.isEmpty else { throw damaged("it is cut off") }
                return nil
            }
            buffer += chunk.prefix(count)
        }
    }
}
