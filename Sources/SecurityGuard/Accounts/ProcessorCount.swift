#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

enum ProcessorCount {
    /// The cores that are online, at least one.
    static let value = max(1, Int(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
