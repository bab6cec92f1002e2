import NIOCore

extension EventLoop {
    /// A future of what is done at once: failed where that throws. For the making of connections, where
    /// `makeCompletedFuture(withResultOf:)` costs some thousand instructions for its generic result.
    package func completed(_ body: () throws -> Void) -> EventLoopFuture<Void> {
        do {
            try body()
            return makeSucceededVoidFuture()
        } catch {
            return makeFailedFuture(error)
        }
    }
}
