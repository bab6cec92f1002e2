/// Sends spans somewhere, without ever making the caller wait. Safe from any thread.
package protocol SpanSink: Sendable {
    /// - Parameter spans: those of one turn of a loop, at least one.
    func take(_ spans: [RequestSpan])
}
