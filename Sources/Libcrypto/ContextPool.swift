import Synchronization

/// Contexts that are costly to make, each in one caller's hands at a time.
///
/// One of them is behind a lock of its own, so that a caller who is alone pays for no more than that lock; whoever
/// finds it taken gets another from a stack. As many contexts come to be as there are callers at once, and a burst
/// leaves no more than `limit` behind.
final class ContextPool<Context: Sendable>: Sendable {
    private let first: Mutex<Context>
    private let others = Mutex<[Context]>([])
    private let limit: Int
    private let make: @Sendable () throws(LibcryptoError) -> Context

    /// Makes the first context at once, so that a key that cannot be used is found when it is loaded.
    init(limit: Int = 64, make: @escaping @Sendable () throws(LibcryptoError) -> Context) throws(LibcryptoError) {
        self.limit = limit
        self.make = make
        first = Mutex(try make())
    }

    /// Runs `body` with a context that nobody else has meanwhile.
    func with<Value>(_ body: (Context) -> Value) throws(LibcryptoError) -> Value {
        if let value = first.withLockIfAvailable({ body($0) }) { return value }
        let context = try other()
        defer {
            others.withLock { others in
                if others.count < limit { others.append(context) }
            }
        }
        return body(context)
    }

    private func other() throws(LibcryptoError) -> Context {
        if let context = others.withLock({ $0.popLast() }) { return context }
        return try make()
    }
}
