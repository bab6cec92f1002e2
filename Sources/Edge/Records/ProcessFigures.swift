import Foundation
import Glibc

/// What the system says of this process, from `/proc`. The names of the metrics made of them are those of other
/// Prometheus clients, so that dashboards know them.
struct ProcessFigures {
    /// Processor time used, in seconds.
    var processorTime: Double
    /// Memory in use, in bytes.
    var residentMemory: Double
    /// Descriptors that are open.
    var openDescriptors: Double
    /// Descriptors that may be open.
    var mostDescriptors: Double
    /// When the process started, in seconds since the Unix epoch.
    var startTime: Double

    /// Reads the figures; nil where there is no `/proc`. Reads some small files of the kernel; not to be called on an
    /// event loop.
    static func read() -> ProcessFigures? {
        guard let stat = text("/proc/self/stat"), let end = stat.lastIndex(of: ")"),
            let boot = text("/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let bootTime = Double(boot.dropFirst("btime ".count)),
            let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        else { return nil }
        // The fields after the command's name, which may contain anything: state is the third field of proc(5).
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
            let start = Double(fields[19]), let pages = Double(fields[21])
        else { return nil }
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return ProcessFigures(
            processorTime: (user + system) / ticks, residentMemory: pages * Double(sysconf(Int32(_SC_PAGESIZE))),
            openDescriptors: Double(open), mostDescriptors: Double(limit.rlim_cur), startTime: bootTime + start / ticks)
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
