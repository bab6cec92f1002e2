import CLibcrypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The memory of the process, in which keys are.
package enum ProcessMemory {
    /// No core dump is written of this process, and processes of the same user can't read its memory (`prctl(2)`,
    /// PR_SET_DUMPABLE). Nothing where the system knows no such thing.
    package static func forbidDumps() { _ = gatehouse_forbid_dumps() }

    /// Overwrites what is secret in the arguments of the process, which the system shows to all users.
    ///
    /// It is called once, at the start of a command. The bytes behind the shown ones are overwritten with `x` in
    /// place, so `CommandLine.arguments` must have been read before.
    ///
    /// - Parameter shownCount: how many bytes of an argument may be shown, given the one before it; nil for all.
    package static func hideArguments(behind shownCount: (_ argument: String, _ previous: String) -> Int?) {
        var previous = ""
        for index in 0..<Int(CommandLine.argc) {
            guard let start = CommandLine.unsafeArgv[index] else { continue }
            let argument = String(cString: start)
            if let count = shownCount(argument, previous), count < strlen(start) {
                memset(start + count, CInt(UInt8(ascii: "x")), strlen(start) - count)
            }
            previous = argument
        }
    }
}
