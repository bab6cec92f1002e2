import Foundation
import Synchronization

/// The certificates of `server.tls.client_ca`, for as long as they are configured.
final class ClientAuthority: Sendable {
    /// The file as it was read.
    let certificates: Data?
    /// Whether a certificate that was verified against them still counts.
    let isCurrent = Atomic(true)

    /// A file that can't be read gives nil; the contexts that are made from the same file then fail.
    init(file: String) { certificates = FileManager.default.contents(atPath: file) }
}
