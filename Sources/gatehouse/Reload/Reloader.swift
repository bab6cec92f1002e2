import AdminAPI
import EdgeConfiguration
import Experience
import Logging

/// Reads the configuration of the running gateway again after a signal, a request to the admin listener or a change of
/// the file. One reload at a time.
actor Reloader {
    private let source: ConfigurationSource
    private let logger: Logger
    private let level: SharedLogLevel
    private var running: GatewayConfiguration
    /// What was read last, which is in use.
    private(set) var loaded: LoadedConfiguration
    /// The result of the last reload; nil before the first.
    private(set) var lastReload: ReloadEntry?
    private var gateway: Gateway?
    /// The reload that began last. The next one waits for it.
    private var last: Task<ReloadOutcome, Never>?
    /// Opens the files of the logs again.
    private let reopen: @Sendable () -> Void

    /// - Parameter reopen: opens the log files again, which may have been rotated.
    init(
        _ source: ConfigurationSource, running loaded: LoadedConfiguration, logger: Logger, level: SharedLogLevel,
        reopen: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.running = loaded.configuration
        self.loaded = loaded
        self.logger = logger
        self.level = level
        self.reopen = reopen
    }

    /// The gateway that is to be changed.
    func set(_ gateway: Gateway) { self.gateway = gateway }

    /// Reads file and environment, and has the gateway go on with what they say. A configuration that is wrong changes
    /// nothing.
    func reload(because cause: String) async -> ReloadOutcome {
        let former = last
        let task = Task {
            _ = await former?.value
            let outcome = await perform(because: cause)
            lastReload = ReloadEntry(at: SystemClock.milliseconds(), outcome: outcome)
            return outcome
        }
        last = task
        return await task.value
    }

    /// Opens the logs again, reads keys, certificates and configuration, and changes to it. A configuration that can't
    /// be used leaves the running one in force.
    private func perform(because cause: String) async -> ReloadOutcome {
        reopen()
        await gateway?.reload()
        let (plan, read): (ReloadPlan, LoadedConfiguration)
        do {
            read = try source.reload()
            read.logWarnings(to: logger)
            plan = ReloadPlan(running: running, wanted: read.configuration)
            try await gateway?.change(to: plan.configuration)
        } catch {
            let why = ErrorText.oneLine(ErrorText.failure(error)?.description ?? "\(error)")
            logger.error("the configuration is not changed", metadata: ["cause": "\(cause)", "reason": "\(why)"])
            return .refused(why)
        }
        running = plan.configuration
        loaded = read.with(plan.configuration)
        level.set(plan.configuration.log.level)
        var metadata: Logger.Metadata = ["cause": "\(cause)"]
        if !plan.needRestart.isEmpty { metadata["need_restart"] = "\(plan.needRestart.joined(separator: ", "))" }
        logger.notice("configuration reloaded", metadata: metadata)
        return .reloaded(needRestart: plan.needRestart)
    }
}
