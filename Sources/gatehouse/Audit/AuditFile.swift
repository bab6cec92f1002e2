import Encodings
import Glibc
import Libcrypto
import Runtime

/// The file of an audit log. It is locked for one writer, continued where it ends, and synced after each append.
///
/// It is not thread-safe: ``AuditLog`` calls it from its queue only.
final class AuditFile {
    private static let longestLine = 1 << 20
    private let descriptor: Int32
    let path: String

    /// Opens or creates `path`, and continues the chain in it.
    ///
    /// An incomplete last line, which a crash leaves behind, is removed. `torn` then describes what was removed, for
    /// the next line.
    static func open(_ path: String) throws(CommandFailure) -> (file: AuditFile, chain: AuditChain, torn: JSONObject?) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("audit.file: \(path): \(FileBytes.reason(errno)): create its directory, or correct it")
        }
        let file = AuditFile(path: path, descriptor: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure("audit.file: \(path) is written by another process: give each gateway its own")
        }
        let (chain, torn) = try file.resume()
        return (file, chain, torn)
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Appends bytes and syncs the file. If it throws, none of them are in the file.
    func append(_ bytes: [UInt8]) throws(CommandFailure) {
        let start = lseek(descriptor, 0, SEEK_END)
        guard start >= 0, write(all: bytes), fdatasync(descriptor) == 0 else {
            let reason = FileBytes.reason(errno)
            // Removes a partial write, so that the same bytes can be appended again.
            if start >= 0 { ftruncate(descriptor, start) }
            throw CommandFailure("audit.file: \(path): \(reason)")
        }
    }

    private func write(all bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }

    // MARK: Resuming

    private func resume() throws(CommandFailure) -> (AuditChain, torn: JSONObject?) {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw CommandFailure("audit.file: \(path) is no regular file") }
        guard size > 0 else { return (AuditChain(), nil) }
        let tail = read(from: max(0, size - off_t(2 * Self.longestLine)), to: size)
        var torn: JSONObject?
        var whole = tail[...]
        if tail.last != UInt8(ascii: "\n") {
            let end = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let lost = Array(tail[end...])
            torn = ["bytes": .integer(Int64(lost.count)), "sha256": .string(Hexadecimal.text(Digest.sha256(lost)))]
            guard ftruncate(descriptor, size - off_t(lost.count)) == 0 else {
                throw CommandFailure("audit.file: \(path): \(FileBytes.reason(errno))")
            }
            whole = tail[..<end]
        }
        guard let last = whole.split(separator: UInt8(ascii: "\n")).last else { return (AuditChain(), torn) }
        guard let chain = AuditChain.resuming(after: last) else {
            throw CommandFailure(
                "audit.file: the last line of \(path) is damaged: see 'gatehouse audit verify', then move the file away"
            )
        }
        return (chain, torn)
    }

    private func read(from start: off_t, to end: off_t) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var offset = start
        while offset < end {
            let count = pread(descriptor, &chunk, chunk.count, offset)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
            offset += off_t(count)
        }
        return bytes
    }
}
