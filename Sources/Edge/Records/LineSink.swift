import NIOCore

/// Writes lines somewhere, without ever making the caller wait. Safe from any thread.
package protocol LineSink: Sendable {
    /// Takes whole lines, each with its newline.
    ///
    /// - Parameter count: how many lines there are.
    func take(_ lines: ByteBuffer, count: Int)
}
