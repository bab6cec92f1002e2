import EdgeConfiguration
import NIOCore
import Testing

@testable import Proxy

@Suite("How many requests are repeated") struct RetryBudgetTests {
    @Test("A share of the requests, and so many a second besides")
    func budget() {
        var terms = RouteConfiguration.Retry()
        terms.budget = 0.25
        terms.floor = 2
        var budget = RetryBudget(terms)
        for _ in 0..<40 { budget.requested() }
        let first = (0..<20).filter { _ in budget.take(at: 500) }.count
        #expect(first == 12, "10 of 40, and 2")
        let sameSecond = budget.take(at: 999)
        let nextSecond = (0..<5).filter { _ in budget.take(at: 1_000) }.count
        #expect(!sameSecond && nextSecond == 2)
    }

    @Test("Quiet times save up only so much")
    func bound() {
        var terms = RouteConfiguration.Retry()
        terms.budget = 1
        terms.floor = 0
        var budget = RetryBudget(terms)
        for _ in 0..<10_000 { budget.requested() }
        #expect((0..<1_000).filter { _ in budget.take(at: 0) }.count == 100)
    }
}
