import ServiceLifecycle

/// Reloads the configuration when its file has another content than the one in use (`server.watch`). A content that
/// was refused is tried again at each look.
struct ReloadOnChange: Service {
    let source: ConfigurationSource
    let reloader: Reloader
    /// How often the file is read.
    var interval = Duration.milliseconds(500)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let cause = "the file has changed"
            var watch = ContentWatch()
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                let used = await reloader.loaded.contents
                let current = source.contents()
                switch watch.step(reading: current, used: used) {
                case .wait: continue
                case .reload: _ = await reloader.reload(because: cause, expecting: current)
                case .retry: await reloader.retry(because: cause, expecting: current)
                }
            }
        }
    }
}
