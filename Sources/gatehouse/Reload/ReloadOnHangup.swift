import ServiceLifecycle
import UnixSignals

/// Reloads the configuration, the keys and the certificate whenever the process receives SIGHUP.
struct ReloadOnHangup: Service {
    let reloader: Reloader

    func run() async throws {
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        for await _ in hangups.cancelOnGracefulShutdown() { _ = await reloader.reload(because: "SIGHUP") }
    }
}
