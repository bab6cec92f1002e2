import NIOCore

/// The deadlines of one event loop, which turns the wheel twenty times a second.
///
/// An event loop keeps its own timers in a heap, and removing one from it searches all of them; with ten thousand
/// connections that is the most expensive part of closing one. Confined to its loop.
package final class DeadlineWheel {
    /// A deadline that can be moved, and the object that is told of it.
    package final class Alarm {
        /// When it goes off; nil when it is not set.
        fileprivate var due: NIODeadline?
        /// The object to tell; nil when there is none.
        fileprivate var holder: (any DeadlineHolder)?
        /// The slot it is in; nil when in none.
        fileprivate var slot: Int64?

        /// Creates an alarm that is not set.
        package init() {}
    }

    private static let slotWidth = TimeAmount.milliseconds(TimingWheel<Alarm>.slotMilliseconds)

    private var wheel: TimingWheel<Alarm>
    /// The time as of the last turn. This is exact enough for time limits and saves a system call for each request.
    package private(set) var now: NIODeadline

    /// Creates an empty wheel.
    package init(now: NIODeadline = .now()) {
        self.now = now
        self.wheel = TimingWheel(unitsPerMillisecond: 1_000_000, now: Self.nanoseconds(now))
    }

    /// Sets when the alarm goes off: never earlier than `delay` from now by more than the loop's own delay.
    package func arm(_ alarm: Alarm, after delay: TimeAmount, for holder: (any DeadlineHolder)?) {
        if let holder { alarm.holder = holder }
        let due = now + delay + Self.slotWidth
        // Within a turn of the wheel the time stands still, and a busy connection sets the same deadline again and
        // again.
        if alarm.due == due { return }
        alarm.due = due
        let slot = wheel.slot(for: Self.nanoseconds(due))
        // An alarm that is in a later slot is moved by making a second entry; the first is ignored when its slot comes.
        if let lies = alarm.slot, lies <= slot { return }
        place(alarm, in: slot)
    }

    /// The same, but an earlier deadline that is already set stays.
    package func armIfEarlier(_ alarm: Alarm, after delay: TimeAmount, for holder: (any DeadlineHolder)? = nil) {
        if let due = alarm.due, due <= now + delay + Self.slotWidth { return }
        arm(alarm, after: delay, for: holder)
    }

    /// Cancels the alarm and releases its holder.
    package func cancel(_ alarm: Alarm) {
        alarm.due = nil
        alarm.holder = nil
    }

    /// Tells every holder whose deadline has passed.
    package func turn(now: NIODeadline = .now()) {
        self.now = max(self.now, now)
        wheel.turn(to: Self.nanoseconds(self.now))
        // All slots are emptied first: an alarm that is put in meanwhile may fall into one that was still to be
        // emptied.
        var due: [Alarm] = []
        while let alarms = wheel.takeDue() { due += alarms }
        for alarm in due { look(at: alarm) }
    }

    private func look(at alarm: Alarm) {
        guard let lies = alarm.slot, lies <= wheel.hand else { return }
        alarm.slot = nil
        guard let due = alarm.due else { return }
        guard due <= now else { return place(alarm, in: wheel.slot(for: Self.nanoseconds(due))) }
        let holder = alarm.holder
        alarm.due = nil
        holder?.deadlinePassed()
    }

    private func place(_ alarm: Alarm, in slot: Int64) {
        alarm.slot = slot
        wheel.insert(alarm, slot: slot)
    }

    private static func nanoseconds(_ time: NIODeadline) -> Int64 { Int64(clamping: time.uptimeNanoseconds) }
}
