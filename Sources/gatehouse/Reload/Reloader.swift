import AdminAPI
import EdgeConfiguration
import Experience
import Logging
import Synchronization

/// Reads the configuration of the running gateway again after a signal, a request to the admin listener or a change of
/// the file. One reload at a time.
actor Reloader {
    private let source: ConfigurationSource
    private let logger: Logger
    private let level: SharedLogLevel
    /// What the gateway goes on with: keys that need a restart have the values of the start.
    private var running: GatewayConfiguration
    /// What was read last, which is in use.
    private(set) var loaded: LoadedConfiguration
    /// The result of the last reload; nil before the first.
    private(set) var lastReload: ReloadEntry?
    /// Nil until it is made, which needs the reloader.
    private var gateway: Gateway?
    /// Whether the gateway serves. Before, a change would not reach it.
    private let isServing = Atomic<Bool>(false)
    /// What asked for a reload before the gateway served, if anything did.
    private var postponed: String?
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

    /// The gateway serves from now on. To be called before anyone is told that it does, since a reload that is asked for
    /// then is made.
    ///
    /// - Returns: what makes the reload that was asked for before, if any was.
    @discardableResult
    nonisolated func begin() -> Task<Void, Never> {
        isServing.store(true, ordering: .sequentiallyConsistent)
        return Task { await performPostponed() }
    }

    private func performPostponed() async {
        guard let cause = postponed else { return }
        postponed = nil
        _ = await reload(because: cause)
    }

    /// Reads file and environment, and has the gateway go on with what they say. A configuration that is wrong changes
    /// nothing. While the gateway starts, the reload is postponed until it serves.
    ///
    /// - Parameter expected: the content that the file is to have, where it may just be written; nil for any.
    func reload(because cause: String, expecting expected: [UInt8]? = nil) async -> ReloadOutcome {
        guard isServing.load(ordering: .sequentiallyConsistent) else {
            postponed = cause
            return .refused("the gateway is starting, and reloads as soon as it serves")
        }
        return await inTurn(because: cause, isRetry: false, expected)
    }

    /// Tries once more what was refused, and reads nothing but the configuration. It is called again and again, so a
    /// refusal is logged only if its text is not that of the last one.
    func retry(because cause: String, expecting expected: [UInt8]? = nil) async {
        guard isServing.load(ordering: .sequentiallyConsistent) else { return }
        _ = await inTurn(because: cause, isRetry: true, expected)
    }

    /// Performs a reload after those that were asked for before.
    private func inTurn(because cause: String, isRetry: Bool, _ expected: [UInt8]?) async -> ReloadOutcome {
        let former = last
        let task = Task { () -> ReloadOutcome in
            _ = await former?.value
            guard let outcome = await perform(because: cause, isRetry: isRetry, expected) else {
                return .refused("the file has changed again")
            }
            if !isRetry || outcome != lastReload?.outcome {
                lastReload = ReloadEntry(at: SystemClock.milliseconds(), outcome: outcome)
            }
            return outcome
        }
        last = task
        return await task.value
    }

    /// Opens the logs again, reads keys, certificates and configuration, and changes to it. A configuration that can't
    /// be used leaves the running one in force.
    ///
    /// - Returns: nil if the file has another content than was expected.
    private func perform(because cause: String, isRetry: Bool, _ expected: [UInt8]?) async -> ReloadOutcome? {
        if !isRetry {
            reopen()
            await gateway?.reload()
        }
        let (plan, read): (ReloadPlan, LoadedConfiguration)
        do {
            read = try source.reload()
            if let expected, read.contents != expected { return nil }
            plan = ReloadPlan(running: running, wanted: read.configuration)
            try await gateway?.change(to: plan.configuration)
        } catch {
            let why = ErrorText.oneLine(ErrorText.failure(error)?.description ?? "\(error)")
            let outcome = ReloadOutcome.refused(why)
            if !isRetry || outcome != lastReload?.outcome {
                logger.error("the configuration is not changed", metadata: ["cause": "\(cause)", "reason": "\(why)"])
            }
            return outcome
        }
        read.logWarnings(to: logger)
        running = plan.configuration
        loaded = read.with(plan.configuration)
        level.set(plan.configuration.log.level)
        var metadata: Logger.Metadata = ["cause": "\(cause)"]
        if !plan.needRestart.isEmpty { metadata["need_restart"] = "\(plan.needRestart.joined(separator: ", "))" }
        logger.notice("configuration reloaded", metadata: metadata)
        return .reloaded(needRestart: plan.needRestart)
    }
}
