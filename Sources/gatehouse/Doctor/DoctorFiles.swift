import EdgeCore
import Encodings
import Foundation
import Glibc
import Libcrypto
import NIOSSL

/// What the doctor learns from files.
enum DoctorFiles {
    /// The most entries of a directory, and the most bytes of a log, that are looked at.
    private static let (mostNames, mostBytes) = (1_000, 256 << 20)
    /// The end of a log in which callers are counted, in bytes.
    private static let tail = 1 << 20

    /// A file or directory; nil if it does not exist.
    static func entry(_ path: String) -> DoctorFacts.Entry? {
        // The permissions of a link mean nothing: those of its target count.
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let facts = try? FileManager.default.attributesOfItem(atPath: place),
            let mode = (facts[.posixPermissions] as? NSNumber)?.uint32Value
        else { return nil }
        return DoctorFacts.Entry(path: path, mode: mode & 0o777, isReadable: access(path, R_OK) == 0)
    }

    /// The names in a directory; none if it can't be read.
    static func names(in directory: String) -> [String] {
        Array(((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted().prefix(mostNames))
    }

    /// The directory that a file is in.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The disks that these directories are on, each once, with the keys that name what is there. A directory that does
    /// not exist is left out.
    static func disks(_ places: [(key: String, directory: String)]) -> [DoctorFacts.Disk] {
        var disks: [DoctorFacts.Disk] = []
        for place in places {
            guard let disk = disk(key: place.key, path: place.directory) else { continue }
            if let same = disks.firstIndex(where: { $0.device == disk.device }) {
                disks[same].keys.append(place.key)
            } else {
                disks.append(disk)
            }
        }
        return disks
    }

    /// The disk that a directory is on; nil if the directory does not exist.
    private static func disk(key: String, path: String) -> DoctorFacts.Disk? {
        var entry = stat()
        guard stat(path, &entry) == 0, let room = try? FileManager.default.attributesOfFileSystem(forPath: path),
            let free = (room[.systemFreeSize] as? NSNumber)?.uint64Value,
            let total = (room[.systemSize] as? NSNumber)?.uint64Value
        else { return nil }
        return DoctorFacts.Disk(keys: [key], device: UInt64(entry.st_dev), path: path, free: free, total: total)
    }

    /// The first certificate of a PEM file; nil if it can't be read, which `ServerFiles` reports.
    static func leaf(of path: String) -> DoctorFacts.Certificate? {
        guard let bytes = (try? FileBytes.read(path, limit: 1 << 20)) ?? nil,
            let leaf = (try? NIOSSLCertificate.fromPEMBytes(bytes))?.first
        else { return nil }
        let found = (try? leaf.toDERBytes()).flatMap { CertificateNames(certificate: $0) }
        let addresses = (found?.addresses ?? []).compactMap { PackedAddress.canonical($0).map(PackedAddress.text) }
        let names = (found?.hosts ?? []) + addresses
        return DoctorFacts.Certificate(
            names: names, notBefore: Int64(leaf.notValidBefore), notAfter: Int64(leaf.notValidAfter))
    }

    /// Whether the chain of the audit log is whole. A log that is larger than 256 MiB is not read.
    static func audit(_ path: String?) -> DoctorFacts.Audit {
        guard let path else { return .off }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            return code == ENOENT ? .missing(path: path) : .unreadable("\(path): \(FileBytes.reason(code))")
        }
        defer { close(descriptor) }
        var verification = AuditVerification()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var bytes = 0
        do throws(AuditVerification.Break) {
            while true {
                let count = read(descriptor, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return .unreadable("\(path): \(FileBytes.reason(errno))") }
                // A gateway may be writing its next line, so an incomplete last line is no fault.
                if count == 0 { return .whole(lines: verification.lines) }
                bytes += count
                guard bytes <= mostBytes else {
                    return .unreadable("\(path): larger than 256MiB: use 'gatehouse audit verify', and rotate it")
                }
                try verification.update(chunk.prefix(count))
            }
        } catch {
            return .broken("\(path):\(error.line): the chain breaks: \(error.reason)")
        }
    }

    /// Counts callers at the end of the first of these logs that has any.
    static func callers(_ paths: [String]) -> DoctorFacts.Callers {
        for path in paths {
            let callers = callers(at: path)
            if callers.seen > 0 { return callers }
        }
        return DoctorFacts.Callers()
    }

    /// Counts the values of `client` in the last MiB of a log of JSON lines. The first line, which may be cut, is left
    /// out.
    private static func callers(at path: String) -> DoctorFacts.Callers {
        var counts: [String: Int] = [:]
        var seen = 0
        for line in lastBytes(of: path).split(separator: UInt8(ascii: "\n")).dropFirst() {
            guard let object = try? StrictJSON.object(Array(line)), let client = object["client"]?.stringValue else {
                continue
            }
            counts[client, default: 0] += 1
            seen += 1
        }
        guard let most = counts.max(by: { $0.value < $1.value }) else { return DoctorFacts.Callers() }
        return DoctorFacts.Callers(seen: seen, commonest: most.key, ofCommonest: most.value)
    }

    /// The last MiB of a file; empty if it can't be read.
    private static func lastBytes(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end > 0, lseek(descriptor, max(0, end - off_t(tail)), SEEK_SET) >= 0 else { return [] }
        return (try? FileBytes.read(descriptor: descriptor, limit: 2 * tail, name: path)) ?? nil ?? []
    }
}
