import EdgeCore
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// Connects to an upstream on the same machine, without waiting for the event loop to report the connection.
///
/// When `connect` returns, the kernel has already made or refused such a connection. Only where the listener's queue is
/// full is it undecided. On systems without glibc every connection is undecided.
enum LocalConnection {
    enum Outcome {
        /// A connected non-blocking socket that the caller owns.
        case connected(NIOBSDSocket.Handle)
        /// The socket has been closed.
        case failed(errno: CInt)
        /// Not known at once: the event loop has to wait for it.
        case undecided
    }

    /// Every Unix socket is, and every loopback address.
    static func isLocal(_ address: SocketAddress) -> Bool {
        switch address {
        case .unixDomainSocket: true
        case .v4, .v6: PackedAddress.bytes(of: address).map { PackedAddress.isLoopback($0) } ?? false
        }
    }

    /// Never waits: the socket is non-blocking from the start. To be called on the event loop.
    static func open(_ address: SocketAddress) -> Outcome {
        #if canImport(Glibc)
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(CInt(address.protocol.rawValue), type, 0)
        guard socket >= 0 else { return .failed(errno: errno) }
        let outcome = connect(socket, to: address)
        if case .connected = outcome { return outcome }
        _ = Glibc.close(socket)
        return outcome
        #else
        return .undecided
        #endif
    }

    #if canImport(Glibc)
    private static func connect(_ socket: CInt, to address: SocketAddress) -> Outcome {
        address.withSockAddr { pointer, size in
            for attempt in 0..<2 {
                guard Glibc.connect(socket, pointer, socklen_t(size)) != 0 else { return .connected(socket) }
                switch errno {
                case EISCONN: return .connected(socket)
                // In progress: a second call tells the result.
                case EINPROGRESS where attempt == 0: continue
                case EINPROGRESS, EALREADY, EAGAIN, EINTR: return .undecided
                case let code: return .failed(errno: code)
                }
            }
            return .undecided
        }
    }
    #endif
}
