import ServiceLifecycle

/// Reloads the configuration when its file has changed (`server.watch`).
///
/// The content is compared and not the time of the last change: a file that was only touched, or replaced by the same
/// one, changes nothing, and a file on a mounted volume may have any time.
struct ReloadOnChange: Service {
    let source: ConfigurationSource
    let reloader: Reloader
    /// How often the file is read. A content counts when it was read twice, so that a file is not taken over while it
    /// is being written.
    var interval = Duration.milliseconds(500)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var last = source.contents()
            var candidate: [UInt8]?
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                let current = source.contents()
                // A file that is being replaced may be missing for a moment.
                guard let current, current != last else {
                    candidate = nil
                    continue
                }
                guard current == candidate else {
                    candidate = current
                    continue
                }
                last = current
                _ = await reloader.reload(because: "the file has changed")
            }
        }
    }
}
