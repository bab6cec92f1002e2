import Experience
import ServiceLifecycle
import UnixSignals

/// Has the gateway read its keys and certificate again whenever the process receives SIGHUP.
struct ReloadOnHangup: Service {
    let gateway: Gateway

    func run() async throws {
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        for await _ in hangups.cancelOnGracefulShutdown() { await gateway.reload() }
    }
}
