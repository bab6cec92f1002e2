import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Passes the facts to Hummingbird's request context. ``APIResponder/reply(to:method:ifNoneMatch:logger:)`` makes one
/// for each request.
package struct APIContextSource: RequestContextSource {
    /// What the edge has found out about the request.
    package let facts: APIRequestFacts
    /// The operator's log, which Hummingbird asks for.
    package let logger: Logger
}

/// The request context of the API routes. Lives as long as the request.
package struct APIContext: RequestContext {
    package typealias Source = APIContextSource

    /// What Hummingbird keeps for itself: the parameters of the path among it.
    package var coreContext: CoreRequestContextStorage
    /// What the edge has found out about the request.
    package let facts: APIRequestFacts

    package init(source: APIContextSource) {
        self.coreContext = .init(source: source)
        self.facts = source.facts
    }
}
