import AdminAPI
import EdgeConfiguration
import Logging
import Synchronization
import Testing

@testable import gatehouse

/// A level of the log for a while.
@Suite struct LogLevelTests {
    @Test("A temporary level ends by itself, and a reload meanwhile counts afterwards")
    func temporary() {
        let now = Mutex<Int64>(1_000)
        let level = SharedLogLevel(.info) { now.withLock { $0 } }
        level.setTemporarily(.debug, seconds: 600)
        #expect(level.current == .debug && level.entry.until == 601_000)
        level.set(.warning)
        #expect(level.current == .debug)
        now.withLock { $0 = 601_000 }
        #expect(level.current == .warning && level.entry.until == nil && level.entry.level == "warning")
    }
}
