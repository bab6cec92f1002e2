/// A refused request, as the operator's API shows it: without credentials or whole ids.
package struct RefusalEntry: Sendable, Equatable {
    /// When the answer was done, in ms since the epoch.
    package var time: Int64
    /// The id that the answer had (`X-Request-Id`).
    package var requestID: String
    /// The client's address.
    package var client: String?
    /// The method, if it is a registered one.
    package var method: String?
    /// Path and query, with credentials cut as in the access log.
    package var path: String?
    /// The configured path, `api`, `page` or `none`.
    package var route: String
    /// The host that the route is bound to.
    package var routeHost: String?
    /// The status of the answer; nil where none was sent.
    package var status: Int?
    /// The refusal's code.
    package var code: String
    /// What the code does not say, as in the audit log.
    package var reason: String?
    /// The user, where a token had been accepted.
    package var user: String?
    /// The first 12 characters of the session's id.
    package var session: String?

    package init(time: Int64, requestID: String, route: String, code: String) {
        self.time = time
        self.requestID = requestID
        self.route = route
        self.code = code
    }
}

/// The refusals of one event loop that were last, in bounded memory. Confined to its loop.
package struct RefusalRing {
    /// How many are kept.
    package static let capacity = 1_000
    /// So many bytes of a path are kept.
    package static let longestPath = 512

    private var entries: [RefusalEntry] = []
    private var next = 0

    /// Creates an empty ring.
    package init() {}

    /// Adds a refusal, in place of the oldest one when the ring is full.
    package mutating func add(_ entry: RefusalEntry) {
        if entries.count < Self.capacity {
            entries.append(entry)
        } else if entries.indices.contains(next) {
            entries[next] = entry
        }
        next = (next + 1) % Self.capacity
    }

    /// All of them, in no particular order.
    package var all: [RefusalEntry] { entries }
}
