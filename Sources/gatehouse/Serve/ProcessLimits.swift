import Glibc

/// What the process asks of the system before it serves.
enum ProcessLimits {
    /// No core dump, since memory holds keys and secrets; as many descriptors as the hard limit allows, since every
    /// socket is one and a relayed one is two.
    static func apply() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        var files = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return }
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    }
}
