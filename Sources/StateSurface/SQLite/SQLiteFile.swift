import Foundation
import GRDB
import Glibc

/// Finds, creates or refuses the database file. A damaged file is refused and left unchanged.
enum SQLiteFile {
    private static let magic = Array("SQLite format 3\0".utf8)
    /// The size in bytes up to which the file is checked at start. A larger one would take seconds; damage is then
    /// found when a page is used.
    private static let checkedSize: Int64 = 512 << 20

    /// The path in a URL `sqlite:PATH` or `sqlite:///PATH`. It is not decoded.
    ///
    /// - Throws: `.misconfigured` for an empty path, a host, or `:memory:`.
    static func path(ofURL url: String) throws -> String {
        var path = url.dropFirst("sqlite:".count)
        if path.hasPrefix("//") {
            guard path.hasPrefix("///") else {
                throw StateSurfaceError(.misconfigured, "write sqlite:PATH, without two slashes before the path")
            }
            path = path.dropFirst(2)
        }
        guard !path.isEmpty else { throw StateSurfaceError(.misconfigured, "sqlite: needs a path: sqlite:PATH") }
        guard path != ":memory:" else {
            throw StateSurfaceError(.misconfigured, "the state must outlive the process: name a file, not :memory:")
        }
        return String(path)
    }

    /// Creates the folder, and an empty file with mode 0600, if they do not exist. Refuses a file that is not a
    /// database.
    ///
    /// - Throws: `.misconfigured` if the folder or file cannot be made or opened, `.corrupt` for a file that is not a
    ///   database.
    static func prepare(_ path: String) throws {
        // Not by Foundation, whose `deletingLastPathComponent` ends the process for a name of one character.
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
        if !folder.isEmpty {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw StateSurfaceError(.misconfigured, "cannot create the folder \(folder) for the state file")
            }
        }
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw StateSurfaceError(.misconfigured, "cannot open the state file \(path): \(reason)")
        }
        defer { _ = Glibc.close(descriptor) }
        try checkHeader(descriptor, path: path)
    }

    private static func checkHeader(_ descriptor: CInt, path: String) throws {
        var header = [UInt8](repeating: 0, count: magic.count)
        let count = pread(descriptor, &header, header.count, 0)
        if count == 0 {
            // An empty file is a new one, unless there is a write-ahead log.
            guard size(of: path + "-wal") == 0 else { throw damaged(path, "it is empty, but its -wal file is not") }
        } else if count != magic.count || header != magic {
            throw damaged(path, "it is not an SQLite database")
        }
    }

    /// Opens the pool, and checks that the file is not damaged and that writes will be durable.
    ///
    /// For up to 3 s it is tried again when the file is busy. `synchronous` is FULL, so a commit is on the disk before
    /// it is reported.
    static func open(_ path: String) throws -> DatabasePool {
        let deadline = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < deadline {
            do {
                return try openOnce(path)
            } catch let error as StateSurfaceError where error.code == .unavailable {
                // If several processes switch a new file to WAL at the same time, some get BUSY without waiting.
                usleep(50_000)
            }
        }
        return try openOnce(path)
    }

    private static func openOnce(_ path: String) throws -> DatabasePool {
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            configuration.maximumReaderCount = 4
            configuration.foreignKeysEnabled = false
            configuration.label = "gatehouse.state"
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                // Must come after the switch to WAL, in which GRDB sets NORMAL.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
                    throw StateSurfaceError(.failed, "SQLite does not accept synchronous = FULL")
                }
                // Keeps a group of writes in memory until the commit, and copies a page that many groups change from
                // the log to the file only once. Durability is not affected.
                try database.execute(sql: "PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000")
                try check(database, path: path)
            }
            return pool
        } catch {
            throw naming(path, StateSurfaceError(sqlite: error))
        }
    }

    private static func check(_ database: Database, path: String) throws {
        guard size(of: path) <= checkedSize else { return }
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
            throw damaged(path, "SQLite's quick_check fails")
        }
    }

    private static func naming(_ path: String, _ error: StateSurfaceError) -> StateSurfaceError {
        guard !error.message.contains(path) else { return error }
        return StateSurfaceError(error.code, "\(path): \(error.message)")
    }

    private static func damaged(_ path: String, _ why: String) -> StateSurfaceError {
        StateSurfaceError(
            .corrupt,
            "the state file \(path) is damaged: \(why); it is left untouched")
    }

    /// The size in bytes; 0 if the file does not exist.
    static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Whether the file does not exist. Throws if it can't be examined, for example for lack of permission.
    static func isMissing(_ path: String) throws(StateSurfaceError) -> Bool {
        var status = stat()
        guard stat(path, &status) != 0 else { return false }
        let code = errno
        guard code != ENOENT, code != ENOTDIR else { return true }
        let reason = String(cString: strerror(code))
        throw StateSurfaceError(.misconfigured, "cannot look at the state file \(path): \(reason)")
    }

    /// The device and inode of the file, which identify it when its name is reused.
    static func identity(of path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}
