import ServiceLifecycle
import UnixSignals

/// Reloads the configuration, the keys and the certificate whenever the process receives SIGHUP.
struct ReloadOnHangup: Service {
    /// Trapped from the beginning of the process, so that SIGHUP never ends it: those that came during the start are
    /// kept until this runs.
    let hangups: UnixSignalsSequence
    let reloader: Reloader

    func run() async throws {
        for await _ in hangups.cancelOnGracefulShutdown() { _ = await reloader.reload(because: "SIGHUP") }
    }
}
