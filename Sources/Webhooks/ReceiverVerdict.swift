/// What a receiver's answer means.
package enum ReceiverVerdict: Sendable, Equatable {
    case delivered
    /// To be tried again, not before so many milliseconds if it says so.
    case retry(after: Int64?)
    /// The receiver does not want it any more.
    case gone

    /// Judges an answer (RFC 8935 §2.2, RFC 9110 §15).
    ///
    /// - Parameters:
    ///   - status: nil if there was no answer: unreachable, too late, broken.
    ///   - retryAfter: the value of `Retry-After`, which counts with 429 and 503.
    package init(status: Int?, retryAfter: String? = nil) {
        switch status {
        case .some(200..<300): self = .delivered
        case .some(410): self = .gone
        case .some(429), .some(503): self = .retry(after: retryAfter.flatMap(Self.milliseconds))
        // Refusals too: a receiver that is set up wrongly today takes it tomorrow. A redirect is not followed, because
        // the body is for the URL of the configuration alone.
        default: self = .retry(after: nil)
        }
    }

    /// Seconds; a date is not read, the pauses of the schedule count then.
    private static func milliseconds(_ text: String) -> Int64? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text).map { $0 * 1000 }
    }
}
