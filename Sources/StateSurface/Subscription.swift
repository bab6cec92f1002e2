/// A subscription to changes.
package struct Subscription: Sendable {
    private let onCancel: @Sendable () -> Void
    /// A subscription that runs this closure when it is cancelled.
    package init(_ onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }
    /// Ends the subscription.
    package func cancel() { onCancel() }
}
