import Synchronization

/// A pool of contexts that are costly to make. Each is used by one caller at a time.
///
/// The first context is guarded by its own mutex, so that a single caller pays for one uncontended lock. A caller that
/// finds it in use takes another from a stack, or makes one. There are as many contexts as there were concurrent
/// callers; of the additional ones, at most `limit` are kept.
final class ContextPool<Context: Sendable>: Sendable {
    private let first: Mutex<Context>
    private let others = Mutex<[Context]>([])
    private let limit: Int
    private let make: @Sendable () throws(LibcryptoError) -> Context

    /// Makes the first context at once, so that a key that cannot be used is refused when it is loaded.
    init(limit: Int = 64, make: @escaping @Sendable () throws(LibcryptoError) -> Context) throws(LibcryptoError) {
        self.limit = limit
        self.make = make
        first = Mutex(try make())
    }

    /// Runs `body` with a context that no other caller uses until it returns.
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
