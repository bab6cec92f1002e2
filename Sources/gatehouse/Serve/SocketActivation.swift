import EdgeConfiguration
import EdgeCore
import Experience
import Glibc

/// The listening sockets that systemd has opened for the gateway (sd_listen_fds(3)), so that connections wait for a
/// gateway that is being restarted, and are not refused.
enum SocketActivation {
    /// The descriptor of the first socket that is passed.
    private static let first: Int32 = 3
    /// The most sockets that are looked at.
    private static let most = 64

    /// One socket as it was passed.
    struct Passed: Equatable {
        let descriptor: Int32
        /// Its name in `LISTEN_FDNAMES`; nil for none.
        let name: String?
        /// Where it listens; nil where that is no address or path.
        let address: ListenAddress?
    }

    /// The sockets of this process, if it was given any. Those that are not used are closed, so that no client waits
    /// for an accept that never comes.
    ///
    /// - Parameter unused: is told of each socket that is closed: its name or address.
    /// - Throws: a failure for a descriptor that is no listening stream socket.
    static func sockets(
        environment: [String: String], listen: ListenAddress, admin: ListenAddress?, unused: (String) -> Void
    ) throws(CommandFailure) -> InheritedSockets {
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid() else { return InheritedSockets() }
        let count = min(environment["LISTEN_FDS"].flatMap { Int($0) } ?? 0, most)
        guard count > 0 else { return InheritedSockets() }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var passed: [Passed] = []
        for index in 0..<count {
            let descriptor = first + Int32(index)
            guard isListening(descriptor) else {
                throw CommandFailure("LISTEN_FDS: descriptor \(descriptor) is no listening stream socket")
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let name = names.indices.contains(index) && !names[index].isEmpty ? String(names[index]) : nil
            passed.append(Passed(descriptor: descriptor, name: name, address: address(of: descriptor)))
        }
        let chosen = choose(among: passed, listen: listen, admin: admin)
        for socket in passed where socket.descriptor != chosen.public && socket.descriptor != chosen.admin {
            close(socket.descriptor)
            unused(socket.name ?? socket.address.map { "\($0)" } ?? "descriptor \(socket.descriptor)")
        }
        return chosen
    }

    /// Which socket is which: by the names `public` and `admin`; a socket of another name is the public one if it is
    /// bound to `server.listen`, else the first of them is. One that is bound to `server.admin` is the admin listener;
    /// there is none with `server.admin: off`.
    static func choose(among passed: [Passed], listen: ListenAddress, admin: ListenAddress?) -> InheritedSockets {
        let named = { (name: String) in passed.first { $0.name == name }?.descriptor }
        let others = passed.filter { $0.name != "public" && $0.name != "admin" }
        let bound = { (place: ListenAddress) in others.first { $0.address.map { isSame($0, place) } ?? false } }
        let adminSocket = admin.flatMap { named("admin") ?? bound($0)?.descriptor }
        let publicSocket =
            named("public") ?? bound(listen)?.descriptor
            ?? others.first { $0.descriptor != adminSocket }?.descriptor
        return InheritedSockets(public: publicSocket, admin: adminSocket)
    }

    /// Whether two addresses are equal. Two spellings of one IP address are.
    private static func isSame(_ a: ListenAddress, _ b: ListenAddress) -> Bool {
        if a.path != nil || b.path != nil { return a.path == b.path }
        guard a.port == b.port else { return false }
        let (left, right) = (PackedAddress.bytes(of: a.host), PackedAddress.bytes(of: b.host))
        return left != nil ? left == right : a.host == b.host
    }

    /// Whether the descriptor is a stream socket that listens.
    private static func isListening(_ descriptor: Int32) -> Bool {
        option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) && option(SO_ACCEPTCONN, of: descriptor) == 1
    }

    /// A number among the options of a socket; nil if it is no socket.
    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// The address that the socket is bound to.
    private static func address(of descriptor: Int32) -> ListenAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bytes = withUnsafeMutableBytes(of: &storage) { room -> [UInt8]? in
            guard let base = room.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                getsockname(descriptor, base, &length) == 0
            else { return nil }
            return Array(room.prefix(Int(length)))
        }
        return bytes.flatMap { read($0, family: Int32(storage.ss_family)) }
    }

    /// The address in the bytes of a `sockaddr`: the family in two bytes, then port and address, or a path.
    private static func read(_ bytes: [UInt8], family: Int32) -> ListenAddress? {
        switch family {
        case AF_INET where bytes.count >= 8:
            return ListenAddress(host: PackedAddress.text(of: Array(bytes[4..<8])), port: port(bytes))
        case AF_INET6 where bytes.count >= 24:
            return ListenAddress(host: PackedAddress.text(of: Array(bytes[8..<24])), port: port(bytes))
        case AF_UNIX where bytes.count > 2:
            return ListenAddress("unix:" + String(decoding: bytes[2...].prefix { $0 != 0 }, as: UTF8.self))
        default: return nil
        }
    }

    /// The port, in network byte order, of a `sockaddr_in` or `sockaddr_in6`.
    private static func port(_ bytes: [UInt8]) -> Int { Int(bytes[2]) << 8 | Int(bytes[3]) }
}
