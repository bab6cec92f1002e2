import Testing

@testable import TrafficCop

@Suite struct RateLimiterTests {
    @Test("A bucket holds one minute's tokens and refills at a steady rate", arguments: [1, 7, 600])
    func refill(perMinute: Int) {
        var bucket = TokenBucket(perMinute: perMinute, now: 0)
        for _ in 0..<perMinute { #expect(bucket.take(cost: 1, now: 0).isAllowed) }
        #expect(!bucket.take(cost: 1, now: 0).isAllowed)
        var taken = 0
        for now in stride(from: Int64(0), through: 60_000, by: 10) where bucket.take(cost: 1, now: now).isAllowed {
            taken += 1
        }
        #expect(taken == perMinute)
    }

    @Test("A clock that is set back neither fills nor blocks a bucket")
    func clockStepsBack() {
        var bucket = TokenBucket(perMinute: 60, now: 1_000_000)
        for _ in 0..<60 { _ = bucket.take(cost: 1, now: 1_000_000) }
        #expect(!bucket.take(cost: 1, now: 0).isAllowed)
        #expect(!bucket.take(cost: 1, now: 999).isAllowed)
        #expect(bucket.take(cost: 1, now: 1_000).isAllowed)
    }

    @Test("Extreme numbers don't trap", arguments: [Int.min, -1, 0, 1, Int.max])
    func oddNumbers(number: Int) {
        var bucket = TokenBucket(perMinute: number, now: .min)
        _ = bucket.take(cost: number, now: .max)
        _ = bucket.take(cost: number, now: .min)
        bucket.refund(cost: number, now: .max)
        #expect((0.0...1.0).contains(bucket.fill(at: .max)))
    }

    @Test("A limit of nothing allows nothing")
    func zero() {
        let limiter = RateLimiter()
        #expect(
            limiter.take(.anonymousSession, key: "a", cost: 1, perMinute: 0, now: 0) == .limited(retryAfterSeconds: 60))
    }

    @Test("The reported wait is long enough, and not a second too long")
    func retryAfter() {
        var bucket = TokenBucket(perMinute: 10, now: 0)
        for _ in 0..<10 { _ = bucket.take(cost: 1, now: 0) }
        #expect(bucket.take(cost: 1, now: 0) == .limited(retryAfterSeconds: 6))
        #expect(!bucket.take(cost: 1, now: 5_999).isAllowed)
        #expect(bucket.take(cost: 1, now: 6_000).isAllowed)
    }

    @Test("A flood of keys stays within the table and does not remove the key that is limited")
    func flood() {
        let limiter = RateLimiter(capacity: 256)
        for _ in 0..<10 { _ = limiter.take(.loginByAccount, key: "victim", cost: 1, perMinute: 10, now: 0) }
        for index in 0..<20_000 {
            _ = limiter.take(.loginByAccount, key: "\(index)", cost: 1, perMinute: 10, now: 0)
        }
        #expect(limiter.count <= 256)
        #expect(!limiter.take(.loginByAccount, key: "victim", cost: 1, perMinute: 10, now: 0).isAllowed)
    }

    @Test("Keys of one limit are not keys of another")
    func limitsAreApart() {
        let limiter = RateLimiter()
        _ = limiter.take(.loginByAccount, key: "a", cost: 1, perMinute: 1, now: 0)
        #expect(!limiter.take(.loginByAccount, key: "a", cost: 1, perMinute: 1, now: 0).isAllowed)
        #expect(limiter.take(.loginByAddress, key: "a", cost: 1, perMinute: 1, now: 0).isAllowed)
    }

    @Test("Buckets that are full again are removed")
    func fullIsForgotten() {
        let limiter = RateLimiter()
        _ = limiter.take(.loginByAccount, key: "a", cost: 1, perMinute: 10, now: 0)
        limiter.refund(.loginByAccount, key: "a", cost: 1, perMinute: 10, now: 0)
        #expect(limiter.count == 0)
    }
}
