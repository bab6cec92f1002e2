import NIOCore

/// One movable point in time after which a connection has waited long enough.
///
/// Moving it is an assignment: the scheduled task looks at the time when it fires and sleeps on if it has been moved.
struct ConnectionDeadline {
    private final class Alarm {
        var due: NIODeadline?
        var action: (() -> Void)?
        var task: Scheduled<Void>?
        var taskDue = NIODeadline.distantFuture
    }

    private let loop: any EventLoop
    private let alarm = Alarm()

    init(loop: any EventLoop) { self.loop = loop }

    /// Sets what happens, and when.
    func arm(after delay: TimeAmount, _ action: @escaping () -> Void) {
        alarm.action = action
        arm(after: delay)
    }

    /// Moves the deadline. With `onlyIfLater: false` an earlier deadline that is already set stays.
    func arm(after delay: TimeAmount, onlyIfLater: Bool = true) {
        let due = NIODeadline.now() + delay
        if !onlyIfLater, let set = alarm.due, set <= due { return }
        alarm.due = due
        if alarm.task == nil || due < alarm.taskDue { schedule(at: due) }
    }

    func cancel() {
        alarm.due = nil
        alarm.action = nil
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
            alarm.action?()
        }
    }
}
