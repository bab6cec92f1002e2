import Glibc

/// Which file a path leads to, and its state: it changes when the file is written or replaced, or when any link on the
/// way to it is. Certificates in volumes of Kubernetes are links into a directory that is itself a link, and only that
/// one is replaced.
struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// - Parameter path: links are followed; nil if there is no file that can be examined.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}
