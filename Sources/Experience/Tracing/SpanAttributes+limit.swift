import Tracing

extension SpanAttributes {
    /// How many attributes a span, an event or a link has at most, and how many events and links a span.
    static let most = 128

    /// All attributes, in no order.
    var named: [(name: String, value: SpanAttribute)] {
        var named: [(name: String, value: SpanAttribute)] = []
        named.reserveCapacity(count)
        // swift-format-ignore: ReplaceForEachWithForLoop
        forEach { named.append((name: $0, value: $1)) }
        return named
    }

    /// At most ``most`` attributes, the first by name where there are more.
    var limited: SpanAttributes {
        guard count > Self.most else { return self }
        let kept = named.sorted { $0.name < $1.name }.prefix(Self.most)
        return SpanAttributes(Dictionary(uniqueKeysWithValues: kept.map { ($0.name, $0.value) }))
    }
}
