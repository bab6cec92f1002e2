import EdgeConfiguration
import Logging
import Synchronization

/// The listener's TLS: certificates and keys from their files, read again when these change. Safe from any thread. Open
/// connections keep the certificate that they were made with.
package final class ServerTLS: Sendable {
    private struct Loaded: Sendable {
        var files: GatewayConfiguration.TLS
        var asking: CertificateHosts
        var contexts: ServerContexts
        var stamp: [FileIdentity?]
    }

    private let loaded: Mutex<Loaded>

    /// Reads certificates and keys.
    ///
    /// - Parameter asking: the hosts whose clients are asked for a certificate.
    /// - Throws: ``GatewayError`` where any of them can't be used.
    package init(_ files: GatewayConfiguration.TLS, asking: CertificateHosts) throws {
        self.loaded = Mutex(try Self.load(files, asking))
    }

    private static func load(_ files: GatewayConfiguration.TLS, _ asking: CertificateHosts) throws -> Loaded {
        // The stamp first: a change while the files are read is noticed at the next check.
        let stamp = stamp(files)
        return Loaded(
            files: files, asking: asking, contexts: try ServerContexts(files, asking: asking), stamp: stamp)
    }

    /// Reads other files, or the same ones again, and returns what takes them over for new connections. What is
    /// returned may be called once, and then can't fail.
    ///
    /// - Throws: ``GatewayError`` where they can't be used; nothing has changed then.
    package func replacement(
        by files: GatewayConfiguration.TLS, asking: CertificateHosts
    ) throws -> @Sendable () -> Void {
        let next = try Self.load(files, asking)
        return { [self] in loaded.withLock { Self.replace(&$0, by: next) } }
    }

    /// What was verified against other authorities counts no longer.
    private static func replace(_ loaded: inout Loaded, by next: Loaded) {
        let old = loaded.contexts.authority
        loaded = next
        guard let old else { return }
        if old.certificates == next.contexts.authority?.certificates {
            loaded.contexts.authority = old
        } else {
            old.isCurrent.store(false, ordering: .releasing)
        }
    }

    /// The contexts for new connections.
    var contexts: ServerContexts { loaded.withLock { $0.contexts } }

    /// Reads the files again if they have changed. New connections get the new certificates; if any of the new files
    /// can't be used, the old ones stay. Called every two seconds, off the event loops. Changes are noticed by what
    /// ``FileIdentity`` compares.
    package func reloadIfChanged(logger: Logger) {
        let (files, asking) = loaded.withLock { ($0.files, $0.asking) }
        let stamp = Self.stamp(files)
        guard loaded.withLock({ $0.stamp != stamp }) else { return }
        do {
            let next = try Self.load(files, asking)
            // A reload of the configuration in the meantime has read what it says now.
            loaded.withLock { if $0.files == files, $0.asking == asking { Self.replace(&$0, by: next) } }
            logger.info("certificate reloaded")
        } catch {
            loaded.withLock { if $0.files == files { $0.stamp = stamp } }
            logger.warning("the changed certificate can't be used; the old one stays", metadata: ["error": "\(error)"])
        }
    }

    private static func stamp(_ files: GatewayConfiguration.TLS) -> [FileIdentity?] {
        let named = files.certificates.flatMap { [$0.certificate, $0.key] }
        return ([files.certificate, files.key] + named + [files.clientCA].compactMap { $0 }).map {
            FileIdentity(of: $0)
        }
    }
}
