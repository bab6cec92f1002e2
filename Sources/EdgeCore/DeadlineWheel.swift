import NIOCore

/// The deadlines of one event loop: a hashed wheel of 50 ms slots that is turned twenty times a second.
///
/// An event loop keeps its own timers in a heap, from which taking one out costs a look at all of them; with ten thousand
/// connections that is the most expensive part of closing one. Here nothing is ever taken out: whoever no longer waits
/// is passed by when its slot comes round. Confined to its loop.
package final class DeadlineWheel {
    /// One movable point in time, and who waits for it.
    package final class Alarm {
        fileprivate(set) var due: NIODeadline?
        package fileprivate(set) var holder: (any DeadlineHolder)?
        /// The slot it lies in; nil when in none.
        fileprivate var slot: UInt64?

        package init() {}
    }

    private static let slotWidth: UInt64 = 50_000_000
    private static let slotCount: UInt64 = 2048

    private var slots: [[Alarm]] = Array(repeating: [], count: Int(slotCount))
    /// The number of the last slot that was looked at.
    private var turned: UInt64
    /// As of the last turn: near enough for time limits, and no call of the system for each request.
    private var now: NIODeadline

    package init(now: NIODeadline = .now()) {
        self.now = now
        self.turned = now.uptimeNanoseconds / Self.slotWidth
    }

    /// Sets when the alarm goes off: never earlier than `delay` from now by more than the loop's own delay.
    package func arm(_ alarm: Alarm, after delay: TimeAmount, for holder: (any DeadlineHolder)?) {
        if let holder { alarm.holder = holder }
        let due = now + delay + .nanoseconds(Int64(Self.slotWidth))
        alarm.due = due
        let slot = self.slot(of: due)
        // One that lies in a later slot is moved by making a second entry; the first is passed by.
        if let lies = alarm.slot, lies <= slot { return }
        place(alarm, in: slot)
    }

    /// The same, but a deadline that comes sooner stays.
    package func armIfEarlier(_ alarm: Alarm, after delay: TimeAmount) {
        if let due = alarm.due, due <= now + delay + .nanoseconds(Int64(Self.slotWidth)) { return }
        arm(alarm, after: delay, for: nil)
    }

    /// Nobody waits any more.
    package func rest(_ alarm: Alarm) {
        alarm.due = nil
        alarm.holder = nil
    }

    /// Tells everybody whose time has come.
    package func turn(now: NIODeadline = .now()) {
        self.now = max(self.now, now)
        let current = self.now.uptimeNanoseconds / Self.slotWidth
        guard current > turned else { return }
        let first = turned + 1
        turned = current
        for number in first...current where number + Self.slotCount > current {
            let place = Int(number % Self.slotCount)
            guard !slots[place].isEmpty else { continue }
            let alarms = slots[place]
            slots[place] = []
            for alarm in alarms { look(at: alarm) }
        }
    }

    private func look(at alarm: Alarm) {
        guard let lies = alarm.slot, lies <= turned else { return }
        alarm.slot = nil
        guard let due = alarm.due else { return }
        guard due <= now else { return place(alarm, in: slot(of: due)) }
        let holder = alarm.holder
        alarm.due = nil
        holder?.deadlinePassed()
    }

    /// The slot behind the moment, so that it is over when the slot comes. Beyond the horizon the alarm waits in the
    /// farthest slot and is placed anew from there.
    private func slot(of due: NIODeadline) -> UInt64 {
        min(max(due.uptimeNanoseconds / Self.slotWidth, turned) + 1, turned + Self.slotCount - 1)
    }

    private func place(_ alarm: Alarm, in slot: UInt64) {
        alarm.slot = slot
        slots[Int(slot % Self.slotCount)].append(alarm)
    }
}

/// Closes a channel when its time has come.
package final class ChannelCloser: DeadlineHolder {
    private let channel: any Channel

    package init(_ channel: any Channel) { self.channel = channel }

    package func deadlinePassed() { channel.close(promise: nil) }
}
