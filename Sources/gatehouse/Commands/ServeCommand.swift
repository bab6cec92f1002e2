import ArgumentParser
import EdgeConfiguration
import Experience
import Exposition
import Logging
import Metrics
import UnixSignals

/// `gatehouse serve`: runs the gateway until the process is told to stop and has drained. A configuration that can't be
/// used is an error before anything is opened.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Runs the gateway until it is told to stop.",
        discussion: """
            Flags go before environment variables (GATEHOUSE_…), those before the file, that before the defaults. \
            Standard output carries one line, 'ready http://HOST:PORT' (or 'ready unix:/PATH'), once connections are \
            accepted.
            """)

    @OptionGroup var options: ConfigurationOptions

    @Option(help: .init("The public listener, or unix:/PATH; port 0 picks one.", valueName: "host:port"))
    var listen: String?
    @Option(help: .init("The listener for health and metrics, unix:/PATH, or 'off'.", valueName: "host:port"))
    var admin: String?
    @Option(help: .init("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var state: String?
    @Option(help: .init("The directory of the signing keys.", valueName: "dir"))
    var keys: String?
    @Option(help: .init("An external Runtime: http://HOST:PORT or unix:/PATH.", valueName: "url"))
    var runtime: String?

    func run() async throws {
        // First of all: until it is trapped, SIGHUP ends the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        ProcessLimits.raiseDescriptors()
        let source = ConfigurationSource(file: options.file, flags: flags)
        let loaded = try source.load()
        let level = SharedLogLevel(loaded.configuration.log.level)
        let metrics = PrometheusMetrics(families: Gateway.metricFamilies)
        let dropped = Counter(
            label: "gatehouse_log_lines_dropped_total", dimensions: [("log", "operator")], factory: metrics)
        let streams = QueuedStreams(format: loaded.configuration.log.format) { dropped.increment(by: $0) }
        Terminal.queueLines(in: streams)
        LineLogHandler.bootstrap(loaded.configuration.log, level: level, to: streams.errors)
        let logger = Logger(label: "gatehouse")
        loaded.logWarnings(to: logger)
        try await Composition(
            loaded: loaded, source: source, logger: logger, level: level, streams: streams, metrics: metrics,
            hangups: hangups
        ).run()
        // Where this fails, `Gatehouse` does it, after a last line about the failure.
        Terminal.drain()
    }

    /// The flags that set keys of the configuration, so that they take precedence over file and environment.
    private var flags: [ConfigurationFlag] {
        let flags = [
            ("--listen", "server.listen", listen), ("--admin", "server.admin", admin), ("--state", "state.url", state),
            ("--keys", "keys.directory", keys), ("--runtime", "runtime.url", runtime),
        ]
        return flags.compactMap { name, key, value in
            value.map { ConfigurationFlag(name: name, key: key, value: $0) }
        }
    }
}
