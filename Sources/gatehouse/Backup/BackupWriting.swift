import Glibc
import Libcrypto
import StateSurface
import Synchronization

/// Writes a copy of the store to a file with mode 0600, which has its name only when it is complete and on disk.
final class BackupWriting: Sendable {
    /// Guarded by the lock.
    private struct State {
        /// Of all lines so far; empty before the first.
        var digest: [UInt8] = []
        /// Of all tables so far.
        var rows: Int64 = 0
        /// Whole lines that are not in the file yet.
        var waiting: [UInt8] = []
    }

    /// The number of bytes at which what waits is written.
    private static let portion = 1 << 20

    private let path: String
    /// What the file is called until it is complete. In the same directory, so that the renaming is atomic.
    private let temporary: String
    private let descriptor: Int32
    private let state = Mutex(State())

    /// Begins a file beside the one of this name, which it replaces when it is complete. Throws where it can't be made.
    init(_ path: String) throws(CommandFailure) {
        var there = stat()
        // The copy replaces the file of this name, so it must not be a device, a pipe or a link.
        guard lstat(path, &there) != 0 || there.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure("\(path): it is there and no regular file, so a copy does not take its place")
        }
        self.path = path
        temporary = "\(path).\(getpid()).tmp"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure("\(path): \(FileBytes.reason(errno))") }
    }

    deinit { close(descriptor) }

    /// Adds a line.
    func write(_ line: String, isRow: Bool = false) throws(CommandFailure) {
        let full = state.withLock { state -> [UInt8] in
            state.digest = Digest.sha256(state.digest + Array(line.utf8))
            if isRow { state.rows += 1 }
            state.waiting += Array(line.utf8)
            state.waiting.append(UInt8(ascii: "\n"))
            guard state.waiting.count >= Self.portion else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        try flush(full)
    }

    /// Writes the last line, and gives the file its name, which is on disk, too, when this returns.
    ///
    /// - Returns: the number of rows.
    func finish() throws(CommandFailure) -> Int64 {
        let (rows, digest) = state.withLock { ($0.rows, $0.digest) }
        try write(BackupFile.footer(rows: rows, digest: digest))
        try flush(
            state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            })
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw failure() }
        try syncDirectory()
        return rows
    }

    /// Writes the directory's entries to disk. Some file systems cannot do that for a directory, and one that may not be
    /// read cannot be opened for it: the copy is complete all the same.
    private func syncDirectory() throws(CommandFailure) {
        let directory = open(DoctorFiles.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            if errno == EACCES { return }
            throw failure()
        }
        defer { close(directory) }
        guard fsync(directory) == 0 || errno == EINVAL || errno == EBADF else { throw failure() }
    }

    /// Removes what was written.
    func abandon() { unlink(temporary) }

    /// Writes all of the bytes.
    private func flush(_ bytes: [UInt8]) throws(CommandFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure() }
            rest = rest.dropFirst(written)
        }
    }

    /// The failure for `errno`.
    private func failure() -> CommandFailure { CommandFailure("\(path): \(FileBytes.reason(errno))") }
}
