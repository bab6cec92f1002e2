import Libcrypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// File operations for key material. Files are readable only by their owner, written atomically, and durable when the
/// call returns.
enum PrivateFiles {
    /// Reads a file of at most `limit` bytes. With `ownerOnly`, a file that others may read or write is refused.
    static func read(_ path: String, limit: Int, ownerOnly: Bool) throws(GuardError) -> [UInt8] {
        let fd = open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { throw failure("can't open", path) }
        defer { close(fd) }
        var info = stat()
        guard fstat(fd, &info) == 0 else { throw failure("can't examine", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw GuardError(.keyFile, "\(path) is not a regular file") }
        if ownerOnly, info.st_mode & 0o077 != 0 {
            let mode = "0" + String(info.st_mode & 0o7777, radix: 8)
            throw GuardError(
                .keyPermissions, "\(path) is open to others (mode \(mode)); make it yours alone: chmod 600 \(path)")
        }
        return try readAll(fd, path, limit: limit)
    }

    private static func readAll(_ fd: Int32, _ path: String, limit: Int) throws(GuardError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = chunk.withUnsafeMutableBytes { Self.read(fd, $0) }
            if count < 0 { throw failure("can't read", path) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk.prefix(count))
            if bytes.count > limit { throw GuardError(.keyFile, "\(path) is larger than \(limit) bytes") }
        }
    }

    private static func read(_ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(fd, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            let count = Musl.read(fd, buffer.baseAddress, buffer.count)
            #else
            let count = Darwin.read(fd, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Creates a file with mode 0600 that must not exist: it is written under another name and then linked atomically.
    /// - Returns: false if the file exists.
    static func create(_ path: String, _ bytes: [UInt8]) throws(GuardError) -> Bool {
        let aside = try writeAside(path, bytes)
        defer { unlink(aside) }
        if link(aside, path) == 0 {
            try syncDirectory(of: path)
            return true
        }
        if errno == EEXIST { return false }
        throw failure("can't create", path)
    }

    /// Replaces a file atomically.
    static func replace(_ path: String, _ bytes: [UInt8]) throws(GuardError) {
        let aside = try writeAside(path, bytes)
        guard rename(aside, path) == 0 else {
            let error = failure("can't replace", path)
            unlink(aside)
            throw error
        }
        try syncDirectory(of: path)
    }

    private static func writeAside(_ path: String, _ bytes: [UInt8]) throws(GuardError) -> String {
        let aside = "\(path).\(RandomID.make()).tmp"
        let fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard fd >= 0 else { throw failure("can't create", aside) }
        defer { close(fd) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                write(fd, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw abandoned(aside, "can't write") }
            offset += count
        }
        guard fsync(fd) == 0 else { throw abandoned(aside, "can't sync") }
        return aside
    }

    private static func abandoned(_ aside: String, _ verb: String) -> GuardError {
        let error = failure(verb, aside)
        unlink(aside)
        return error
    }

    /// Creates a directory that only its owner can use, and missing parents.
    static func makeDirectory(_ path: String) throws(GuardError) {
        var made = ""
        for (index, part) in path.split(separator: "/", omittingEmptySubsequences: true).enumerated() {
            made += (index > 0 || path.utf8.first == UInt8(ascii: "/") ? "/" : "") + part
            if mkdir(made, 0o700) != 0 && errno != EEXIST && errno != EISDIR { throw failure("can't create", made) }
        }
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw GuardError(.keyDirectory, "\(path) is not a directory")
        }
    }

    /// The names in a directory, sorted by bytes; nil if the directory does not exist.
    static func names(in path: String) throws(GuardError) -> [String]? {
        guard let handle = opendir(path) else {
            if errno == ENOENT { return nil }
            throw failure("can't list", path)
        }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A text that changes when a file is replaced or written: inode, size and time of change.
    static func stamp(_ path: String) -> String {
        var info = stat()
        guard stat(path, &info) == 0 else { return "-" }
        return "\(info.st_ino) \(info.st_size) \(info.st_ctim.tv_sec) \(info.st_ctim.tv_nsec)"
    }

    /// Runs `body` while holding a lock on the directory that excludes other processes.
    static func locked<R>(_ directory: String, _ body: () throws(GuardError) -> R) throws(GuardError) -> R {
        let path = directory + "/.lock"
        let fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard fd >= 0 else { throw failure("can't open", path) }
        defer { close(fd) }
        while flock(fd, LOCK_EX) != 0 {
            if errno != EINTR { throw failure("can't lock", path) }
        }
        return try body()
    }

    private static func syncDirectory(of path: String) throws(GuardError) {
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let fd = open(parent.isEmpty ? "/" : parent, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { throw failure("can't open", parent) }
        defer { close(fd) }
        guard fsync(fd) == 0 else { throw failure("can't sync", parent) }
    }

    private static func failure(_ verb: String, _ path: String) -> GuardError {
        let number = errno
        let text = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return GuardError(.keyDirectory, "\(verb) \(path): \(text)")
    }
}
