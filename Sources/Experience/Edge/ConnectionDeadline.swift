import NIOCore

/// Whoever waits for something, and is told when it has waited long enough.
protocol DeadlineHolder: AnyObject {
    func deadlinePassed()
}

/// One movable point in time after which something has waited long enough.
///
/// Moving it is an assignment: the scheduled task looks at the time when it fires and sleeps on if it has been moved.
/// So one task serves all requests of a connection. The holder is kept until `rest` or `cancel`.
struct ConnectionDeadline {
    private final class Alarm {
        var due: NIODeadline?
        var holder: (any DeadlineHolder)?
        var task: Scheduled<Void>?
        var taskDue = NIODeadline.distantFuture
    }

    private let loop: any EventLoop
    private let alarm = Alarm()

    init(loop: any EventLoop) { self.loop = loop }

    /// Sets who is told, and when.
    func arm(after delay: TimeAmount, for holder: any DeadlineHolder) {
        alarm.holder = holder
        arm(after: delay)
    }

    /// Moves the deadline. With `onlyIfLater: false` an earlier deadline that is already set stays.
    func arm(after delay: TimeAmount, onlyIfLater: Bool = true) {
        let due = NIODeadline.now() + delay
        if !onlyIfLater, let set = alarm.due, set <= due { return }
        alarm.due = due
        if alarm.task == nil || due < alarm.taskDue { schedule(at: due) }
    }

    /// Nobody waits any more; the task may still fire, and finds nothing to do.
    func rest() {
        alarm.due = nil
        alarm.holder = nil
    }

    func cancel() {
        rest()
        alarm.task?.cancel()
        alarm.task = nil
    }

    private func schedule(at due: NIODeadline) {
        alarm.task?.cancel()
        alarm.taskDue = due
        let bound = NIOLoopBound(self, eventLoop: loop)
        alarm.task = loop.scheduleTask(deadline: due) { bound.value.fire() }
    }

    private func fire() {
        alarm.task = nil
        guard let due = alarm.due else { return }
        if due > .now() {
            schedule(at: due)
        } else {
            alarm.due = nil
            alarm.holder?.deadlinePassed()
        }
    }
}
