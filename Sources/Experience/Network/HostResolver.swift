import Foundation
import IdentityProviders
import NIOCore
import NIOPosix

/// Asks the system for the addresses of a name, on threads of its own: `getaddrinfo` blocks, and can't be cancelled.
/// Lookups of the same name at the same time are one. Nothing is remembered afterwards.
actor HostResolver {
    /// The most lookups at a time. Those that hang keep their place until the system gives up.
    private static let limit = 32
    private static let threads: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    private var lookups: [String: EventLoopFuture<[IPAddress]>] = [:]

    /// The addresses, in the order of the system.
    ///
    /// - Parameter deadline: ends the wait alone; the lookup goes on and keeps its place.
    /// - Throws: `ProviderFault` `.unreachable` if there are none, `.timedOut` after the deadline.
    func addresses(of host: String, until deadline: NIODeadline) async throws(ProviderFault) -> [IPAddress] {
        let lookup: EventLoopFuture<[IPAddress]>
        if let running = lookups[host] {
            lookup = running
        } else {
            guard lookups.count < Self.limit else {
                throw ProviderFault(.unreachable, "too many names are being resolved")
            }
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            lookup = Self.threads.runIfActive(eventLoop: loop) { Self.resolve(host) }
            lookups[host] = lookup
            lookup.whenComplete { _ in Task { await self.finished(host) } }
        }
        let answered = lookup.eventLoop.makePromise(of: [IPAddress].self)
        lookup.cascade(to: answered)
        let limit = lookup.eventLoop.scheduleTask(deadline: deadline) {
            answered.fail(ProviderFault(.timedOut, "resolving \(host) took too long"))
        }
        defer { limit.cancel() }
        let found: [IPAddress]
        do {
            found = try await answered.futureResult.get()
        } catch {
            throw error as? ProviderFault ?? ProviderFault(.unreachable, "\(host) could not be resolved")
        }
        guard !found.isEmpty else { throw ProviderFault(.unreachable, "\(host) could not be resolved") }
        return found
    }

    private func finished(_ host: String) { lookups[host] = nil }

    /// Every address of a name, or none.
    private static func resolve(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = AF_UNSPEC
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0, let list else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0.pointee.ai_next }.compactMap { entry in
            entry.pointee.ai_addr.flatMap { Self.address($0, length: Int(entry.pointee.ai_addrlen)) }
        }
    }

    private static func address(_ socket: UnsafePointer<sockaddr>, length: Int) -> IPAddress? {
        let bytes = UnsafeRawBufferPointer(start: socket, count: length)
        switch Int32(socket.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            // Family and port, then the address.
            return IPAddress(bytes: bytes[4..<8])
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            // Family, port and flow label, then the address. One with a scope is on a link.
            return IPAddress(bytes: bytes[8..<24])
        default: return nil
        }
    }
}
