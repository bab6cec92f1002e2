import Runtime
import Synchronization

/// Orders of users, in memory: `orders.place` and `orders.list`.
final class OrdersRealm: Realm {
    let intents = ["orders.place", "orders.list"]

    private struct Owner: Hashable {
        let tenantID: String
        let userID: String
    }

    private static let maximumCount = 100
    private let orders = Mutex<[Owner: [String]]>([:])

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        // The owner always comes from the context: a client cannot name another.
        let owner = Owner(tenantID: context.tenantID, userID: context.userID)
        switch intent.name {
        case "orders.place": return place(intent.params["article"]?.stringValue, for: owner)
        case "orders.list": return .result(["orders": .array(list(of: owner))])
        default: return .notFound
        }
    }

    private func place(_ article: String?, for owner: Owner) -> RealmOutcome {
        // The parameters come from the client: they are valid JSON, and nothing else has been checked.
        guard let article, (1...64).contains(article.utf8.count) else {
            return .invalid("article must be a text of 1 to 64 bytes.")
        }
        let number = self.orders.withLock { orders -> Int? in
            guard orders[owner, default: []].count < Self.maximumCount else { return nil }
            orders[owner, default: []].append(article)
            return orders[owner]?.count
        }
        guard let number else { return .failure(code: "too_many_orders", message: "There are too many orders.") }
        return .result(["number": .integer(Int64(number)), "article": .string(article)])
    }

    private func list(of owner: Owner) -> [JSONValue] {
        orders.withLock { $0[owner, default: []] }.map(JSONValue.string)
    }
}
