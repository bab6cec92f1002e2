/// The attributes of a request's span. Exporters write them in this order.
package enum RequestAttribute: String, CaseIterable, Sendable {
    /// The configured path, `api`, `page` or `none`.
    case route = "http.route"
    /// The id that the answer has (`X-Request-Id`).
    case requestID = "gatehouse.request_id"
    /// The request's method.
    case method = "http.request.method"
    /// The path of the request without query, credentials shortened.
    case path = "url.path"
    /// The answer's status.
    case status = "http.response.status_code"
    /// The code of the refusal.
    case refusal = "gatehouse.refusal"
    /// The client's address.
    case client = "client.address"
    /// `HOST:PORT` of the upstream.
    case upstream = "gatehouse.upstream"
    /// How long the upstream took until its answer's head, in nanoseconds.
    case upstreamTime = "gatehouse.upstream_ns"
}
