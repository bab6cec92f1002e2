import Testing

@testable import Edge
@testable import Gate

/// What the log tells of the store, check by check.
@Suite struct StoreLogTests {
    private func lines(_ looks: [StoreHealth]) -> [StoreLog.Line?] {
        var log = StoreLog()
        return looks.map { log.update($0) }
    }

    @Test("An outage is three lines, however long it lasts")
    func outage() {
        #expect(
            lines([.current, .silent, .silent, .silent, .lost, .lost, .silent, .current, .current])
                == [nil, nil, .lost, nil, .graceOver, nil, nil, .back, nil])
        #expect(lines([.silent, .silent, .current, .silent, .silent]) == [nil, .lost, .back, nil, .lost])
    }

    @Test("A link that is only made anew is no outage; a grace of nothing is one at once")
    func short() {
        #expect(lines([.silent, .current, .silent, .current]) == [nil, nil, nil, nil])
        #expect(lines([.lost, .lost, .current]) == [.graceOver, nil, .back])
    }
}
