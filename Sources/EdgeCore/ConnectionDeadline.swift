import NIOCore

/// What waits for something, and is told when it has waited long enough.
package protocol DeadlineHolder: AnyObject {
    func deadlinePassed()
}

/// One movable point in time after which something has waited long enough: moving it is an assignment.
///
/// It passes up to a tenth of a second late. The holder is kept until it has been told, or until ``cancel()``.
package struct ConnectionDeadline {
    private let wheel: DeadlineWheel
    private let alarm = DeadlineWheel.Alarm()

    package init(_ wheel: DeadlineWheel) { self.wheel = wheel }

    /// Sets who is told, and when.
    package func arm(after delay: TimeAmount, for holder: any DeadlineHolder) {
        wheel.arm(alarm, after: delay, for: holder)
    }

    /// Moves the deadline.
    package func arm(after delay: TimeAmount) { wheel.arm(alarm, after: delay, for: nil) }

    /// Moves the deadline, unless it would be later than it is.
    package func armIfEarlier(after delay: TimeAmount) { wheel.armIfEarlier(alarm, after: delay) }

    /// Sets who is told, and when, unless that would be later than it is set already.
    package func armIfEarlier(after delay: TimeAmount, for holder: any DeadlineHolder) {
        wheel.armIfEarlier(alarm, after: delay, for: holder)
    }

    /// The deadline does not pass any more, and its holder is let go.
    package func cancel() { wheel.cancel(alarm) }

    /// Closes a channel after a while, whatever happens to it until then.
    package static func close(_ channel: any Channel, after delay: TimeAmount, on wheel: DeadlineWheel) {
        ConnectionDeadline(wheel).arm(after: delay, for: ChannelCloser(channel))
    }
}
