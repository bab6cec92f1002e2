import NIOCore

/// The deadlines of one event loop, which turns it twenty times a second.
///
/// An event loop keeps its own timers in a heap, from which taking one out costs a look at all of them; with ten thousand
/// connections that is the most expensive part of closing one. Confined to its loop.
package final class DeadlineWheel {
    /// One movable point in time, and who waits for it.
    package final class Alarm {
        package fileprivate(set) var due: NIODeadline?
        package fileprivate(set) var holder: (any DeadlineHolder)?
        /// The slot it lies in; nil when in none.
        fileprivate var slot: Int64?

        package init() {}
    }

    private static let slotWidth = TimeAmount.milliseconds(TimingWheel<Alarm>.slotMilliseconds)

    private var wheel: TimingWheel<Alarm>
    /// The time as of the last turn: near enough for time limits, and no call of the system for each request.
    package private(set) var now: NIODeadline

    package init(now: NIODeadline = .now()) {
        self.now = now
        self.wheel = TimingWheel(unitsPerMillisecond: 1_000_000, now: Self.nanoseconds(now))
    }

    /// Sets when the alarm goes off: never earlier than `delay` from now by more than the loop's own delay.
    package func arm(_ alarm: Alarm, after delay: TimeAmount, for holder: (any DeadlineHolder)?) {
        if let holder { alarm.holder = holder }
        let due = now + delay + Self.slotWidth
        alarm.due = due
        let slot = wheel.slot(for: Self.nanoseconds(due))
        // One that lies in a later slot is moved by making a second entry; the first is passed by.
        if let lies = alarm.slot, lies <= slot { return }
        place(alarm, in: slot)
    }

    /// The same, but a deadline that comes sooner stays.
    package func armIfEarlier(_ alarm: Alarm, after delay: TimeAmount, for holder: (any DeadlineHolder)? = nil) {
        if let due = alarm.due, due <= now + delay + Self.slotWidth { return }
        arm(alarm, after: delay, for: holder)
    }

    /// The alarm does not go off any more, and its holder is let go.
    package func cancel(_ alarm: Alarm) {
        alarm.due = nil
        alarm.holder = nil
    }

    /// Tells every holder whose time has come.
    package func turn(now: NIODeadline = .now()) {
        self.now = max(self.now, now)
        wheel.turn(to: Self.nanoseconds(self.now))
        // All slots are emptied first: an alarm that is put in meanwhile may fall into one that was still to be emptied.
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
