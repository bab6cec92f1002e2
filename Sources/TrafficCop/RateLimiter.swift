import Libcrypto
import Synchronization

/// Token buckets by key, in a table of bounded size.
///
/// When the table is full, buckets that have refilled completely are removed first (a missing bucket counts as full),
/// then the fullest of the others. A flood of new keys therefore does not remove the bucket of a key that is being
/// limited.
final class RateLimiter: Sendable {
    /// The first 128 bits of an HMAC over the key. The length is fixed for any input, and because the HMAC's key is
    /// random, a client cannot choose keys that collide.
    private struct Key: Hashable, Sendable {
        let high: UInt64
        let low: UInt64
    }

    private struct Shard: Sendable {
        var buckets: [Key: TokenBucket] = [:]
    }

    private static let shardCount = 16
    private let shards: [Guarded<Shard>]
    private let capacityPerShard: Int
    private let hashKey = HMACKey.ephemeral()

    init(capacity: Int = 65_536) {
        self.capacityPerShard = max(8, capacity / Self.shardCount)
        self.shards = (0..<Self.shardCount).map { _ in Guarded<Shard>(Shard()) }
    }

    /// Takes `cost` tokens from a key's bucket. With `cost` 0 it takes nothing and says whether one token is left.
    func take(_ limit: Limit, key: String, cost: Int, perMinute: Int, now: Int64) -> RateDecision {
        withBucket(limit, key: key, perMinute: perMinute, now: now) { bucket in
            bucket.take(cost: cost, now: now)
        }
    }

    /// Gives tokens back, up to a full bucket.
    func refund(_ limit: Limit, key: String, cost: Int, perMinute: Int, now: Int64) {
        withBucket(limit, key: key, perMinute: perMinute, now: now) { bucket in
            bucket.refund(cost: cost, now: now)
        }
    }

    /// How many buckets the table holds.
    var count: Int {
        shards.reduce(0) { sum, shard in sum + shard.value.withLock { $0.buckets.count } }
    }

    private func withBucket<R: Sendable>(
        _ limit: Limit, key: String, perMinute: Int, now: Int64, _ body: (inout TokenBucket) -> R
    ) -> R {
        let hashed = hash(limit, key)
        let shard = shards[Int(hashed.low % UInt64(Self.shardCount))]
        return shard.value.withLock { state in
            var bucket = state.buckets[hashed] ?? TokenBucket(perMinute: perMinute, now: now)
            bucket.limit(perMinute: perMinute, now: now)
            let result = body(&bucket)
            if bucket.isFull(at: now) {
                state.buckets[hashed] = nil
            } else {
                if state.buckets[hashed] == nil, state.buckets.count >= self.capacityPerShard {
                    Self.makeRoom(in: &state, now: now)
                }
                state.buckets[hashed] = bucket
            }
            return result
        }
    }

    /// Removes at least a quarter of the shard's buckets, so that the cost of sorting is spread over as many
    /// insertions.
    private static func makeRoom(in shard: inout Shard, now: Int64) {
        let before = shard.buckets.count
        shard.buckets = shard.buckets.filter { !$0.value.isFull(at: now) }
        guard shard.buckets.count > before - before / 4 else { return }
        let byFill = shard.buckets.sorted { $0.value.fill(at: now) > $1.value.fill(at: now) }
        for (key, _) in byFill.prefix(before / 4) { shard.buckets[key] = nil }
    }

    private func hash(_ limit: Limit, _ key: String) -> Key {
        var fields = FieldDigest()
        fields.append(limit.rawValue)
        fields.append(key)
        let mac = hashKey.tag(of: fields.bytes)
        func word(_ range: some Sequence<UInt8>) -> UInt64 { range.reduce(0) { $0 << 8 | UInt64($1) } }
        return Key(high: word(mac.prefix(8)), low: word(mac.dropFirst(8).prefix(8)))
    }
}

/// A mutex that can be an element of an array.
private final class Guarded<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ initial: Value) {
        self.value = Mutex(initial)
    }
}
