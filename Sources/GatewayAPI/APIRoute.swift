import Answers
import HTTPTypes
import Hummingbird

/// One method of one path, what a request to it has to bring, and the function that answers it.
package struct APIRoute: Sendable {
    /// Answers a call that meets the terms of the route. Runs off the event loops. It refuses by throwing: a ``Problem``,
    /// or a fault such as `OAuthFault` that ``Problem/from(_:)`` translates. Any other error becomes a 503 and a line in
    /// the operator's log.
    package typealias Handler = @Sendable (APICall, Proven) async throws -> APIAnswer

    /// The method. GET answers HEAD, too.
    package let method: HTTPRequest.Method
    /// The path, for example `/api/session/{id}`. A segment in braces stands for any segment.
    package let path: String
    /// What a request has to bring.
    package let terms: APITerms
    private let handler: Handler

    /// Creates a route.
    ///
    /// - Parameter path: canonical, as the edge hands paths over.
    package init(
        _ method: HTTPRequest.Method, _ path: String, _ terms: APITerms, _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.terms = terms
        self.handler = handler
    }

    /// Answers the call, once it has been held to the terms. There is no other way to the handler.
    ///
    /// - Throws: the refusal, of the terms or of the handler.
    func answer(_ call: APICall) async throws -> APIAnswer {
        let proven = try await terms.judge(call)
        return try await handler(call, proven)
    }
}
