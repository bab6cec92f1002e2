import Foundation
import Synchronization

/// Sockets, and where they listen.
enum SocketAddressing {
    /// A socket that no program inherits which another test starts at this moment: closing it here would not end it.
    static func stream(_ family: Int32) -> Int32 {
        socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    static func listen(port: Int) throws -> (descriptor: Int32, port: Int) {
        let descriptor = stream(AF_INET)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                let bound = bind(descriptor, generic, length) == 0 && Glibc.listen(descriptor, 256) == 0
                return bound && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard result else {
            close(descriptor)
            throw RawSocket.Failure(description: "listen: \(errno)")
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    static func listen(unixPath: String) throws -> Int32 {
        unlink(unixPath)
        let descriptor = stream(AF_UNIX)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(unixPath.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw RawSocket.Failure(description: "the path of the socket is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                    && Glibc.listen(descriptor, 256) == 0
            }
        }
        guard result else {
            close(descriptor)
            throw RawSocket.Failure(description: "listen: \(errno)")
        }
        return descriptor
    }

    /// A socket that receives datagrams at a path, or after `@` at a name of the abstract namespace.
    static func datagrams(at place: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(place.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !name.isEmpty, name.count < room else {
            close(descriptor)
            throw RawSocket.Failure(description: "the name of the socket has a wrong length")
        }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else {
            close(descriptor)
            throw RawSocket.Failure(description: "bind: \(errno)")
        }
        return descriptor
    }

    /// A port without a listener, which no other test is given.
    ///
    /// It lies below those that the kernel gives to connections and to listeners that ask for any: until a test listens
    /// on it, or for as long as it must be dead, no other test can come to it by chance.
    static func unusedPort() throws -> Int {
        for _ in 0..<ports.count {
            let port = lastPort.withLock { last in
                last = last + 1 < ports.upperBound ? last + 1 : ports.lowerBound
                return last
            }
            guard let bound = try? listen(port: port) else { continue }
            close(bound.descriptor)
            return port
        }
        let bound = try listen(port: 0)
        close(bound.descriptor)
        return bound.port
    }

    /// Above those that browsers refuse; empty where the kernel gives away all of them.
    private static let ports: Range<Int> = {
        let kernels = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = kernels?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 32_768
        return 10_240..<max(10_240, min(first, 32_768))
    }()
    private static let lastPort = Mutex(ports.randomElement() ?? 0)
}
