import NIOCore

/// How the gateway stops.
extension LoopState {
    /// Has every connection end once it has answered. What arrives from now on is served and ended in the same way, and
    /// every answer that begins from now on is the last of its connection and says so.
    ///
    /// - Parameter limit: how long all of it may take, in milliseconds. Idle connections and sockets are closed over
    ///   the first half, so that not all clients reconnect at once.
    package func drain(within limit: Int64) {
        isDraining = true
        for parent in http2Connections.values { parent.drain() }
        let open = Array(connections.values)
        let step = Double(limit) / 2 / Double(max(1, open.count))
        for (index, connection) in open.enumerated() {
            let bound = NIOLoopBound(connection, eventLoop: loop)
            let delay = open.count < 32 ? 0 : Int64(Double(index) * step)
            loop.scheduleTask(in: .milliseconds(delay)) { bound.value.drain() }
        }
    }

    /// How many connections and streams there are, those among them that carry no requests yet.
    package var openCount: Int { connections.count + http2Connections.count + pendingConnections }
}
