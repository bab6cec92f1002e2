import Foundation
import Glibc

/// Finds the file of an audit log that a command has to write to.
///
/// Usually that is the one with the log's name. Between the moment when a rotation moves it away and the moment when
/// the gateway opens a new one, there is none: the gateway still writes the file that was moved, and the command has to
/// append to the same file, or the chain would fork.
enum AuditRotation {
    /// The most files beside the log that are looked at, the newest first.
    private static let mostSiblings = 16

    /// The file of the log for a command: that of a gateway that runs, which has another name between the rotation and
    /// SIGHUP, or else the one at `path`.
    static func file(of path: String) throws(CommandFailure) -> AuditFile {
        // What a link leads to counts, and not the link, which is never empty.
        var status = stat()
        if stat(path, &status) == 0, status.st_size != 0 || status.st_mode & S_IFMT != S_IFREG {
            return try AuditFile(path, owns: false)
        }
        let siblings = siblings(of: path)
        for sibling in siblings {
            let file = try AuditFile(sibling, owns: false)
            if file.isOwned { return file }
        }
        let file = try AuditFile(path, owns: false)
        // No gateway runs: the new file goes on from the one that was moved last.
        if file.isEmpty, !file.isOwned, let last = siblings.first {
            let old = try AuditFile(last, owns: false)
            try old.catchUp()
            file.begin(after: old.position)
        }
        return file
    }

    /// The files beside the log whose names begin with its name, such as `audit.jsonl.1`, the newest first.
    private static func siblings(of path: String) -> [String] {
        let url = URL(fileURLWithPath: path)
        let name = url.lastPathComponent
        let folder = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let found = names.compactMap { other -> (path: String, changed: Date)? in
            guard other.hasPrefix(name + ".") || other.hasPrefix(name + "-"), !other.hasSuffix(".gz"),
                !other.hasSuffix(".xz"), !other.hasSuffix(".zst")
            else { return nil }
            let sibling = folder.appendingPathComponent(other).path
            guard let facts = try? FileManager.default.attributesOfItem(atPath: sibling),
                facts[.type] as? FileAttributeType == .typeRegular, (facts[.size] as? NSNumber)?.intValue ?? 0 > 0,
                let changed = facts[.modificationDate] as? Date
            else { return nil }
            return (sibling, changed)
        }
        return found.sorted { $0.changed > $1.changed }.prefix(mostSiblings).map(\.path)
    }
}
