import Answers
import HTTPTypes
import Hummingbird

/// One method of one path, and the function that answers it.
package struct APIRoute: Sendable {
    /// Answers a call. Runs off the event loops. It refuses by throwing: a ``Problem``, or a fault such as `OAuthFault`
    /// that ``Problem/from(_:)`` translates. Any other error becomes a 503 and a line in the operator's log.
    package typealias Handler = @Sendable (APICall) async throws -> APIAnswer

    /// The method. GET answers HEAD, too.
    package let method: HTTPRequest.Method
    /// The path, for example `/api/session/{id}`. A segment in braces stands for any segment.
    package let path: String
    /// Answers the call.
    package let handler: Handler

    /// Creates a route.
    ///
    /// - Parameter path: canonical, as the edge hands paths over.
    package init(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }
}
