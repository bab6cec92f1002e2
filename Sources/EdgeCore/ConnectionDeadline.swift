import NIOCore

/// An object that waits for something with a time limit, and is told when the limit has passed.
package protocol DeadlineHolder: AnyObject {
    /// The deadline has passed. Called on the event loop.
    func deadlinePassed()
}

/// A deadline that can be moved cheaply: moving it is an assignment.
///
/// It passes up to a tenth of a second late. The holder is retained until it has been told, or until ``cancel()``.
package struct ConnectionDeadline {
    private let wheel: DeadlineWheel
    private let alarm = DeadlineWheel.Alarm()

    /// Creates a deadline on this wheel that is not set yet.
    package init(_ wheel: DeadlineWheel) { self.wheel = wheel }

    /// Sets the holder to tell, and when.
    package func arm(after delay: TimeAmount, for holder: any DeadlineHolder) {
        wheel.arm(alarm, after: delay, for: holder)
    }

    /// Moves the deadline.
    package func arm(after delay: TimeAmount) { wheel.arm(alarm, after: delay, for: nil) }

    /// Moves the deadline, unless it would be later than it is.
    package func armIfEarlier(after delay: TimeAmount) { wheel.armIfEarlier(alarm, after: delay) }

    /// Sets the holder to tell, and when, unless that would be later than the time already set.
    package func armIfEarlier(after delay: TimeAmount, for holder: any DeadlineHolder) {
        wheel.armIfEarlier(alarm, after: delay, for: holder)
    }

    /// Cancels the deadline and releases its holder.
    package func cancel() { wheel.cancel(alarm) }

    /// Closes a channel after `delay`, regardless of what happens to it until then.
    package static func close(_ channel: any Channel, after delay: TimeAmount, on wheel: DeadlineWheel) {
        ConnectionDeadline(wheel).arm(after: delay, for: ChannelCloser(channel))
    }
}
