import Glibc
import Libcrypto

/// What the process asks of the system.
enum ProcessLimits {
    /// Memory holds keys and secrets: no core dump is written, and no other process of the same user may look into it.
    static func protectMemory() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        ProcessMemory.forbidDumps()
    }

    /// Opens standard input, output and error where they are closed: a file opened later would get the same descriptor,
    /// and output for people would be written into it.
    static func openStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest one that is free.
            _ = open("/dev/null", O_RDWR)
            if descriptor == STDOUT_FILENO { Terminal.noteClosedOutput() }
        }
    }

    /// As many descriptors as the hard limit allows, since every socket is one and a relayed one is two.
    static func raiseDescriptors() {
        var files = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return }
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    }
}
