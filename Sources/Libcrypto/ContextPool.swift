import Synchronization

/// A stack of contexts that are costly to make: taken by one caller at a time, put back after use.
///
/// As many contexts come to be as there are callers at once, and a burst leaves no more than `limit` behind.
final class ContextPool<Context: Sendable>: Sendable {
    private let idle = Mutex<[Context]>([])
    private let limit: Int
    private let make: @Sendable () throws(LibcryptoError) -> Context

    init(limit: Int = 64, make: @escaping @Sendable () throws(LibcryptoError) -> Context) {
        self.limit = limit
        self.make = make
    }

    func take() throws(LibcryptoError) -> Context {
        if let context = idle.withLock({ $0.popLast() }) { return context }
        return try make()
    }

    func giveBack(_ context: Context) {
        idle.withLock { idle in
            if idle.count < limit { idle.append(context) }
        }
    }
}
