import BasicsForTests
import Dispatch
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("The gate before connections to PostgreSQL")
struct ConnectGateTests {
    @Test("A connection that fails after its caller has gone keeps the other workers from dialling at once")
    func lateFailure() async throws {
        let server = DispatchSemaphore(value: 0)
        let dials = Mutex(0)
        let gate = ConnectGate(pause: .seconds(60)) {
            dials.withLock { $0 += 1 }
            server.wait()
            throw PostgresFault.unreachable("refused late")
        }
        let worker = PostgresWorker(gate, patience: .milliseconds(20))
        let other = PostgresWorker(gate, patience: .milliseconds(20))
        await #expect(throws: PostgresFault.self) { try await worker.rows("SELECT 1", []) }
        server.signal()
        #expect(
            try await eventually(within: .seconds(30)) {
                do {
                    _ = try await other.rows("SELECT 1", [])
                    return false
                } catch PostgresFault.unreachable(let reason) {
                    return reason == "refused late"
                }
            })
        await #expect(throws: PostgresFault.self) { try await worker.rows("SELECT 1", []) }
        #expect(dials.withLock { $0 } == 1)
    }
}
