import Encodings
import Glibc
import Libcrypto
import Runtime

/// The file of an audit log. It is continued where it ends, and synced after each append.
///
/// A gateway keeps the file to itself among gateways. Commands append to it, too: every append holds a lock, and goes
/// on from the last line that is in the file then.
///
/// It is not thread-safe: ``AuditLog`` calls it from its queue only.
final class AuditFile {
    /// One line that is to be written: its time, in ms since the epoch, and what it says.
    typealias Entry = (time: Int64, members: JSONObject)

    private static let longestLine = 1 << 20
    /// Far behind the end of the file, a byte that the gateway which writes the file holds a lock on.
    private static let ownerByte: off_t = 1 << 61

    let path: String
    private let descriptor: Int32
    private var chain = AuditChain()
    /// Where the last line ends that the chain knows of.
    private var end: off_t = 0

    /// Opens or creates `path`, with mode 0600.
    ///
    /// - Parameter owns: whether this is a gateway, which keeps other gateways away from the file.
    init(_ path: String, owns: Bool) throws(CommandFailure) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("audit.file: \(path): \(FileBytes.reason(errno)): create its directory, or correct it")
        }
        self.path = path
        self.descriptor = descriptor
        if owns, !Self.own(descriptor) {
            throw CommandFailure("audit.file: \(path) is written by another process: give each gateway its own")
        }
    }

    deinit { close(descriptor) }

    /// Takes the lock that shows that a gateway writes the file; false where another has it.
    private static func own(_ descriptor: Int32) -> Bool {
        var lock = Glibc.flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = ownerByte
        lock.l_len = 1
        // An open file description's lock, which belongs to this opening of the file and not to the process.
        let ofdSetLock: Int32 = 37
        return fcntl(descriptor, ofdSetLock, &lock) == 0
    }

    /// The device and inode of the opened file.
    var identity: [UInt64] {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }

    /// Whether nothing is in the file.
    var isEmpty: Bool { lseek(descriptor, 0, SEEK_END) == 0 }

    /// What the file's lines go on from.
    var position: AuditChain { chain }

    /// Reads the last line again, if others have written since.
    func catchUp() throws(CommandFailure) {
        guard flock(descriptor, LOCK_EX) == 0 else { throw failure() }
        defer { flock(descriptor, LOCK_UN) }
        let size = lseek(descriptor, 0, SEEK_END)
        if size > 0, size != end { _ = try resume(size) }
    }

    /// Whether a gateway writes the file.
    var isOwned: Bool {
        var lock = Glibc.flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Self.ownerByte
        lock.l_len = 1
        // Asks for an open file description's lock without taking it.
        let ofdGetLock: Int32 = 36
        return fcntl(descriptor, ofdGetLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Has the file, which must be empty, go on from the last line of another one. The first line says so.
    func begin(after other: AuditChain) {
        guard other.sequence > 0 else { return }
        chain = other
        end = 0
    }

    /// Appends lines and syncs the file. If it throws, none of them are in the file.
    ///
    /// An incomplete last line, which a crash leaves behind, is removed; a line then says what was removed.
    func append(_ entries: [Entry]) throws(CommandFailure) {
        guard flock(descriptor, LOCK_EX) == 0 else { throw failure() }
        defer { flock(descriptor, LOCK_UN) }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw CommandFailure("audit.file: \(path) is no regular file") }
        var entries = entries
        if size == 0, chain.sequence > 0 {
            // A new file, or this one emptied in place.
            let continued: JSONObject = ["event": .string(AuditChain.continued)]
            entries.insert((entries.first?.time ?? 0, continued), at: 0)
        } else if size != end {
            let torn = try resume(size)
            if let torn { entries.insert((entries.first?.time ?? 0, torn), at: 0) }
        }
        try write(entries)
    }

    /// Appends lines that continue the chain, and waits until they are on the disk. Throws, and leaves nothing of them,
    /// where that fails.
    private func write(_ entries: [Entry]) throws(CommandFailure) {
        var next = chain
        var bytes: [UInt8] = []
        for entry in entries {
            bytes += Array(next.append(entry.members, at: Timestamp.text(entry.time)).utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        let start = lseek(descriptor, 0, SEEK_END)
        guard start >= 0, write(all: bytes), fdatasync(descriptor) == 0 else {
            let failure = failure()
            // Removes a partial write, so that the same lines can be appended again.
            if start >= 0 { ftruncate(descriptor, start) }
            throw failure
        }
        chain = next
        end = start + off_t(bytes.count)
    }

    /// The failure for `errno`.
    private func failure() -> CommandFailure { CommandFailure("audit.file: \(path): \(FileBytes.reason(errno))") }

    /// Whether all of the bytes were written.
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

    /// Goes on from the last line of the file. Returns what is to be said of an incomplete one that was removed.
    private func resume(_ size: off_t) throws(CommandFailure) -> JSONObject? {
        chain = AuditChain()
        end = 0
        guard size > 0 else { return nil }
        let tail = read(from: max(0, size - off_t(2 * Self.longestLine)), to: size)
        var torn: JSONObject?
        var whole = tail[...]
        end = size
        if tail.last != UInt8(ascii: "\n") {
            let cut = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let lost = Array(tail[cut...])
            torn = [
                "event": .string("audit.torn"), "bytes": .integer(Int64(lost.count)),
                "sha256": .string(Hexadecimal.text(Digest.sha256(lost))),
            ]
            end = size - off_t(lost.count)
            guard ftruncate(descriptor, end) == 0 else { throw failure() }
            whole = tail[..<cut]
        }
        guard let last = whole.split(separator: UInt8(ascii: "\n")).last else { return torn }
        guard let resumed = AuditChain.resuming(after: last) else {
            throw CommandFailure(
                "audit.file: the last line of \(path) is damaged: see 'gatehouse audit verify', then move the file away"
            )
        }
        chain = resumed
        return torn
    }

    /// The bytes between two positions, or as many as there are.
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
