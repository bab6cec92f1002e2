/// What the program around the gateway knows and does for its operator. A gateway that is embedded as a library has
/// none.
package protocol OperatorControls: Sendable {
    /// The effective configuration, without secrets.
    func configuration() async -> OperatorConfiguration
    /// Which check a refusal failed, and what of the configuration decides it.
    func explain(_ refusal: RefusalEntry) async -> RefusalExplanation
    /// The level of the log.
    func logLevel() -> LogLevelEntry
    /// Sets the level of the log for a while; nil for a level that there is not.
    func setLogLevel(_ level: String, seconds: Int64) -> LogLevelEntry?
    /// Reads the configuration again.
    func reload() async -> ReloadOutcome
    /// The last reload; nil before the first.
    func lastReload() async -> ReloadEntry?
}

/// The result of a reload.
package enum ReloadOutcome: Sendable, Equatable {
    /// The configuration is in use; with the keys that have changed and need a restart.
    case reloaded(needRestart: [String])
    /// Nothing has changed, for this reason.
    case refused(String)

    /// In a word or a sentence.
    package var text: String {
        switch self {
        case .reloaded(let keys):
            keys.isEmpty ? "reloaded" : "reloaded; a restart is needed for: \(keys.joined(separator: ", "))"
        case .refused(let why): "refused: \(why)"
        }
    }
}

/// The last reload.
package struct ReloadEntry: Sendable, Equatable {
    /// When it ended, in ms since the epoch.
    package var at: Int64
    /// What became of it.
    package var outcome: ReloadOutcome

    package init(at: Int64, outcome: ReloadOutcome) {
        self.at = at
        self.outcome = outcome
    }
}

/// The effective configuration.
package struct OperatorConfiguration: Sendable, Equatable {
    /// One key.
    package struct Value: Sendable, Equatable {
        /// The key with its path, such as `server.drain`.
        package var key: String
        /// The value as `config show` writes it.
        package var value: String
        /// `default`, `file`, `environment` or `flag`.
        package var from: String
        /// The line of the file; nil where the value is from elsewhere.
        package var line: Int64?

        package init(key: String, value: String, from: String, line: Int64? = nil) {
            self.key = key
            self.value = value
            self.from = from
            self.line = line
        }
    }

    /// The files that were read.
    package var files: [String]
    /// Every key.
    package var values: [Value]

    package init(files: [String], values: [Value]) {
        self.files = files
        self.values = values
    }
}

/// Why a request was refused, in the words of the configuration.
package struct RefusalExplanation: Sendable, Equatable {
    /// The check that failed.
    package var check: String
    /// The key that decides, where there is one.
    package var key: String?
    /// The file and the line where that key was given; nil for a default.
    package var file: String?
    package var line: Int64?

    package init(check: String, key: String? = nil, file: String? = nil, line: Int64? = nil) {
        self.check = check
        self.key = key
        self.file = file
        self.line = line
    }
}

/// The level of the log.
package struct LogLevelEntry: Sendable, Equatable {
    /// The level, such as `info`.
    package var level: String
    /// When it goes back to the configured one, in ms since the epoch; nil where it is the configured one.
    package var until: Int64?

    package init(level: String, until: Int64?) {
        self.level = level
        self.until = until
    }
}
