import CLibcrypto

/// The memory of the process, in which keys are.
package enum ProcessMemory {
    /// No core dump is written of this process, and processes of the same user can't read its memory (`prctl(2)`,
    /// PR_SET_DUMPABLE). Nothing where the system knows no such thing.
    package static func forbidDumps() { _ = gatehouse_forbid_dumps() }
}
