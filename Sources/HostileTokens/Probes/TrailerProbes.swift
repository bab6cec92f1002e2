/// P03: fields behind a chunked body, which must not become fields of the head (RFC 9110 section 6.5.1).
enum TrailerProbes {
    /// A target that merges trailers into the head lets a client set fields after the head was judged. Each is sent
    /// behind an empty chunked body; what counts is what the upstream is given.
    static let all: [Probe] = [
        trailer("length", "Content-Length") { _ in ("Content-Length", "8675309") },
        trailer("coding", "Transfer-Encoding") { ("Transfer-Encoding", $0) },
        trailer("host", "Host") { ("Host", "\($0).invalid") },
        trailer("authorization", "Authorization") { ("Authorization", "Bearer \($0)") },
        trailer("forwarded", "X-Forwarded-For") { ("X-Forwarded-For", $0) },
        .upstream(
            "P03-trailer-credentials", "the good token in the trailers alone", reference, expected: "refused"
        ) { talk, _ in
            let marker = Marker()
            let body = "0\r\n\(try talk.credentialFields())\r\n"
            _ = try await talk.attempt(
                "attack",
                try talk.canaryRequest(
                    "?\(marker.value)", method: "POST", fields: "Transfer-Encoding: chunked\r\n", body: body))
            return try await talk.arrivals(of: marker.value).isEmpty
                ? .passed("nothing arrived at the upstream")
                : .failed("it let the request in, and it arrived at the upstream")
        },
    ]

    /// The section that forbids fields for framing, routing and authentication in trailers.
    private static let reference = "RFC 9110 §6.5.1"

    /// - Parameter field: the trailer, from a text by which it is found again.
    private static func trailer(
        _ name: String, _ title: String, _ field: @escaping @Sendable (String) -> (name: String, value: String)
    ) -> Probe {
        .upstream(
            "P03-trailer-\(name)", "\(title) as a trailer of a good request", reference,
            expected: "refused, or dropped on the way to the upstream"
        ) { talk, _ in
            let (marker, hidden) = (Marker(), Marker())
            let (name, value) = field(hidden.value)
            _ = try await talk.attempt(
                "attack",
                try talk.canaryRequest(
                    "?\(marker.value)", method: "POST",
                    fields: "\(try talk.credentialFields())Transfer-Encoding: chunked\r\n",
                    body: "0\r\n\(name): \(value)\r\n\r\n"))
            return try await talk.hasArrived(value, in: marker)
                ? .failed("it arrived at the upstream") : .passed("it did not arrive at the upstream")
        }
    }
}
