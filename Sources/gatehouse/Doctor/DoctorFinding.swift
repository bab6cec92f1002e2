/// What the doctor has to say about one thing: what was found, and what to change.
struct DoctorFinding: Sendable, Equatable {
    /// How bad it is. Only `wrong` makes the exit status 1.
    enum Level: String, Sendable, CaseIterable {
        /// The deployment does not work, or is not safe.
        case wrong
        /// Worth knowing; may be intended.
        case note
        /// Looked at, and in order.
        case good = "ok"
    }

    let level: Level
    /// The check, one word, such as `keys`.
    let check: String
    /// The key of the configuration to change; empty where none decides.
    var key = ""
    /// What was found. Never a secret.
    let message: String
    /// What to do; empty where there is nothing to do.
    var advice = ""

    /// A finding that makes the exit status 1. It always has advice.
    static func wrong(_ check: String, _ key: String = "", _ message: String, _ advice: String) -> Self {
        DoctorFinding(level: .wrong, check: check, key: key, message: message, advice: advice)
    }

    /// A finding that may be intended, and does not change the exit status.
    static func note(_ check: String, _ key: String = "", _ message: String, _ advice: String = "") -> Self {
        DoctorFinding(level: .note, check: check, key: key, message: message, advice: advice)
    }

    /// What was checked and is in order.
    static func good(_ check: String, _ message: String) -> Self {
        DoctorFinding(level: .good, check: check, message: message)
    }
}
