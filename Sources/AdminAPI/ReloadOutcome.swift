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
