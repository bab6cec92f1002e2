/// Decides what to do about a file that is read again and again. A content counts when it was read twice in a row, so
/// that a file is not taken over while it is being written.
///
/// Contents are compared and not the times of changes: a file that was only touched, or replaced by the same one,
/// changes nothing, and a file on a mounted volume may have any time.
struct ContentWatch {
    /// What to do after a look at the file.
    enum Step: Equatable {
        /// Nothing: the content is the one in use, or has to be read once more.
        case wait
        /// The content is new.
        case reload
        /// The content was refused. The cause may have been another file, such as a certificate that comes later.
        case retry
    }

    /// What was read last, where that is not in use.
    private var candidate: [UInt8]?
    /// What was read last, where it was reloaded already.
    private var tried: [UInt8]?

    /// - Parameters:
    ///   - current: what was read; nil for nothing, as a file that is being replaced may be missing for a moment.
    ///   - used: the content of which the configuration in use was made.
    mutating func step(reading current: [UInt8]?, used: [UInt8]?) -> Step {
        guard let current, current != used else {
            candidate = nil
            tried = nil
            return .wait
        }
        if current == tried { return .retry }
        tried = nil
        guard current == candidate else {
            candidate = current
            return .wait
        }
        tried = current
        return .reload
    }
}
