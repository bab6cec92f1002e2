import EdgeConfiguration
import EdgeCore
import Glibc
import NIOCore
import NIOPosix

/// The file of a Unix socket that the gateway listens on. It is made and removed so that no other process's file is
/// ever touched.
package struct UnixSocketFile: Sendable {
    /// The path of the file.
    package let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Binds a new socket, which does not listen yet, to a file of its own.
    ///
    /// The file of a gateway that has died is replaced. A socket that a process listens on is not, nor is a file of any
    /// other kind.
    ///
    /// - Parameter path: absolute, at most 107 bytes.
    /// - Parameter mode: the permissions of the file, whatever the umask is.
    /// - Returns: a descriptor that the caller owns, and the file to remove when it is closed.
    /// - Throws: ``GatewayError`` where the path is in use, is no socket, or can't be made.
    package static func bind(
        _ path: String, mode: mode_t
    ) throws(GatewayError) -> (descriptor: CInt, file: UnixSocketFile) {
        try makeRoom(at: path)
        let descriptor = try makeSocket(path)
        do throws(GatewayError) {
            guard withAddress(of: path, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
                throw failure(path, errno == EADDRINUSE ? "another process has just taken it" : reason())
            }
            // No client can connect before the socket listens, so the mode it was created with does not matter.
            guard chmod(path, mode) == 0, let (device, inode) = identity(of: path) else {
                throw failure(path, reason())
            }
            return (descriptor, UnixSocketFile(path: path, device: device, inode: inode))
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Removes the file, unless another one has taken its place. Between the look and the removal another process could
    /// put its file there; that takes no longer than two system calls.
    package func remove() {
        guard let (device, inode) = Self.identity(of: path), device == self.device, inode == self.inode else { return }
        unlink(path)
    }

    /// Removes the file that a dead gateway has left; throws if any other file is there.
    private static func makeRoom(at path: String) throws(GatewayError) {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            if errno == ENOENT { return }
            throw failure(path, reason())
        }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw GatewayError(
                .socketPath, "unix:\(path) is there and is no socket: remove it, or choose another path")
        }
        let probe = try makeSocket(path, flags: SOCK_NONBLOCK.rawValue)
        defer { Glibc.close(probe) }
        let isAnswered = withAddress(of: path) { Glibc.connect(probe, $0, $1) } == 0
        // A full queue means that a process listens.
        if isAnswered || errno == EAGAIN || errno == EINPROGRESS {
            throw GatewayError(
                .addressInUse, "unix:\(path) is in use by another process: stop it, or choose another path")
        }
        guard errno == ECONNREFUSED else { throw failure(path, reason()) }
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(path, reason()) }
    }

    private static func makeSocket(_ path: String, flags: UInt32 = 0) throws(GatewayError) -> CInt {
        let kind = CInt(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags)
        let descriptor = Glibc.socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw failure(path, reason()) }
        return descriptor
    }

    private static func identity(of path: String) -> (dev_t, ino_t)? {
        var info = stat()
        return lstat(path, &info) == 0 ? (info.st_dev, info.st_ino) : nil
    }

    /// Passes the path in the form that the system calls take. `ListenAddress` has checked its length; a path that is
    /// too long nevertheless is cut off, and no file is found there.
    private static func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8.prefix(room.count - 1))
        }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }

    private static func failure(_ path: String, _ reason: String) -> GatewayError {
        GatewayError(.socketPath, "cannot listen on unix:\(path): \(reason)")
    }
}

extension ServerBootstrap {
    /// Listens on a Unix socket, whose file goes when the channel closes.
    package func listen(onUnixSocket path: String, mode: UInt32) throws(GatewayError) -> EventLoopFuture<any Channel> {
        let (descriptor, file) = try UnixSocketFile.bind(path, mode: mode_t(mode))
        let opened = withBoundSocket(descriptor).map { channel in
            // NIO has asked for a queue of 128, and the clients of a Unix socket are refused when the queue is full.
            _ = Glibc.listen(descriptor, 4096)
            channel.closeFuture.whenComplete { _ in file.remove() }
            return channel
        }
        opened.whenFailure { _ in file.remove() }
        return opened
    }
}
