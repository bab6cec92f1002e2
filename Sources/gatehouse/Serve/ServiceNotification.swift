import Glibc

/// Tells the service manager that started the gateway what has become of it (sd_notify(3)).
enum ServiceNotification {
    /// The variable that has the address of the service manager's socket.
    static let variable = "NOTIFY_SOCKET"
    /// How long a service manager may take that does not read, in seconds.
    private static let patience = 5

    /// Sends a state such as `READY=1`.
    ///
    /// - Parameter place: the path of a Unix socket, or `@` and a name of the abstract namespace.
    /// - Returns: whether it was sent.
    static func send(_ state: String, to place: String) -> Bool {
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(state.utf8)
        let sent = withAddress(of: place) { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
        return sent == bytes.count
    }

    /// Passes the address in the form that the system calls take; nil for a place that is no address.
    private static func withAddress(
        of place: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int
    ) -> Int? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(place.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count > 1, name.count < room, let first = name.first else { return nil }
        switch first {
        case UInt8(ascii: "/"): break
        case UInt8(ascii: "@"): name[0] = 0
        default: return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A name of the abstract namespace has no end but that of the address.
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
