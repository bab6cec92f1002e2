import NIOCore

/// What has written something that has not been handed to the kernel yet.
package protocol Flushable: AnyObject {
    func flushNow()
}

/// Hands what was written to the kernel when the event loop has been through all that had arrived.
///
/// Each write wakes its receiver. One after the other they find it awake; spread between the parsing of requests each
/// would find it asleep again, and waking it costs more than the write. Confined to its loop.
package final class FlushQueue {
    private let loop: any EventLoop
    private var waiting: [any Flushable] = []
    private var isScheduled = false

    package init(loop: any EventLoop) { self.loop = loop }

    /// To be called once until `flushNow` has been.
    package func add(_ connection: any Flushable) {
        waiting.append(connection)
        guard !isScheduled else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute { bound.value.flushAll() }
    }

    private func flushAll() {
        isScheduled = false
        // A flush may make room, and that may write more: then there is another turn.
        var connections: [any Flushable] = []
        swap(&connections, &waiting)
        for connection in connections { connection.flushNow() }
        if waiting.isEmpty {
            connections.removeAll(keepingCapacity: true)
            swap(&connections, &waiting)
        }
    }
}
