import Glibc

/// Names of the system's users.
package enum SystemUser {
    /// The name of a user; `uid:NUMBER` for one that has none. It may read files or ask a directory service.
    package static func name(of number: UInt32) -> String {
        var room = [CChar](repeating: 0, count: 16_384)
        let name = room.withUnsafeMutableBufferPointer { room -> String? in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = room.baseAddress, getpwuid_r(number, &entry, start, room.count, &found) == 0, found != nil
            else { return nil }
            return entry.pw_name.map { String(cString: $0) }
        }
        return name ?? "uid:\(number)"
    }

    /// The user that this process runs as.
    package static var current: UInt32 { geteuid() }
}
