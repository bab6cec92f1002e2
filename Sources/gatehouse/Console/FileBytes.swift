import Glibc

/// Reads files up to a limit.
enum FileBytes {
    /// The bytes of a file; nil if it does not exist.
    static func read(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw CommandFailure("\(path): \(reason(errno))")
        }
        defer { close(descriptor) }
        guard let bytes = try read(descriptor: descriptor, limit: limit, name: path) else {
            throw CommandFailure("\(path): larger than \(Quantity.size(limit)): is this the right file?")
        }
        return bytes
    }

    /// Reads to the end; nil if there are more than `limit` bytes.
    static func read(descriptor: Int32, limit: Int, name: String) throws(CommandFailure) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= limit {
            let wanted = min(chunk.count, limit + 1 - bytes.count)
            let count = Glibc.read(descriptor, &chunk, wanted)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure("\(name): \(reason(errno))") }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
        return nil
    }

    /// The system's description of an error number.
    static func reason(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
