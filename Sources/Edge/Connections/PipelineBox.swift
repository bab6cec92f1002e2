import Synchronization

/// Holds the pipeline once it has been made. The listener is bound before the pipeline can be made: its port may decide
/// the issuer. Safe from any thread.
package final class PipelineBox: Sendable {
    private let box = Mutex<EdgePipeline?>(nil)

    /// Creates an empty box.
    package init() {}
    /// The pipeline; nil until it has been made.
    package var value: EdgePipeline? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
