import NIOCore

/// A connection with written bytes that have not been handed to the kernel yet.
package protocol Flushable: AnyObject {
    /// Hands the written bytes to the kernel.
    func flushNow()
}

/// Hands written bytes to the kernel once the event loop has processed everything that had arrived.
///
/// Each write wakes its receiver. Writes that follow one another find it awake; if they were spread between the parsing
/// of requests, each would find it asleep again, and waking it costs more than the write. Confined to its loop.
package final class FlushQueue {
    private let loop: any EventLoop
    private var waiting: [any Flushable] = []
    private var isScheduled = false

    /// Creates the queue of this event loop.
    package init(loop: any EventLoop) { self.loop = loop }

    /// Adds a connection. To be called at most once until its `flushNow` has been called.
    package func add(_ connection: any Flushable) {
        waiting.append(connection)
        guard !isScheduled else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute { bound.value.flushAll() }
    }

    private func flushAll() {
        isScheduled = false
        // A flush may make room for more writes: then there is another turn.
        var connections: [any Flushable] = []
        swap(&connections, &waiting)
        for connection in connections { connection.flushNow() }
        if waiting.isEmpty {
            connections.removeAll(keepingCapacity: true)
            swap(&connections, &waiting)
        }
    }
}
