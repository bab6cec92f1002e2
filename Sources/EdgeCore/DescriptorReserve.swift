import Glibc

/// Keeps some descriptors of the process free of connections.
///
/// A process without any can't read its store or its certificates again, and libdispatch, which runs the gateway's
/// concurrent work, ends the process when it can't open a file of `/proc`.
package enum DescriptorReserve {
    /// How many descriptors clients' connections must leave free.
    package static let ofClients = 64
    /// How many descriptors connections to upstreams must leave free.
    package static let ofUpstreams = 32

    /// Whether no more than `reserve` descriptors are left, by the limit of this moment: it may be changed from
    /// outside.
    ///
    /// Descriptors are numbered from the lowest free number, so the number of a new one tells. Three system calls.
    package static func isReached(_ reserve: Int) -> Bool {
        let descriptor = dup(STDERR_FILENO)
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(descriptor)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        let most = Int(clamping: limit.rlim_cur)
        return isReached(reserve, lowestFree: Int(descriptor), most: most)
    }

    /// The decision alone. Of a small limit no more than an eighth is kept.
    static func isReached(_ reserve: Int, lowestFree: Int, most: Int) -> Bool {
        lowestFree >= most - min(reserve, most / 8)
    }
}
