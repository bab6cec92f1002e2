/// P07, P15, P18: what one connection says of itself and of others.
enum ConnectionProbes {
    /// They need the suite's own upstream, which tells what has arrived there. A refusal is a pass as well: what counts
    /// is that nothing was taken away, leaked or mixed up on the way.
    static let all: [Probe] =
        listed + [
            .upstream(
                "P15-secret-leak", "a session's secret and id on their way to the upstream", "RFC 9700 §4.9.1",
                expected: "they do not arrive at the upstream", needs: [.sessions, .assertion]
            ) { talk, _ in
                let (marker, hidden) = (Marker(), Marker())
                let fields = [
                    "Session-Secret: sec_\(hidden.value)", "Session-Id: ses_\(hidden.value)",
                    "Cookie: gatehouse=sec_\(hidden.value)",
                    "Sec-WebSocket-Protocol: chat, bearer.\(hidden.value), session.ses_\(hidden.value)",
                ]
                for field in fields {
                    let lines = try talk.credentialFields() + field + "\r\n"
                    _ = try await talk.attempt("attack", try talk.canaryRequest("?\(marker.value)", fields: lines))
                }
                return try await talk.hasArrived(hidden.value, in: marker)
                    ? .failed("the upstream was given it") : .passed("the upstream was not given them")
            },
            .upstream(
                "P18-aborted-body", "a good request behind one whose client went away in the middle of its body",
                "CWE-444, RFC 9112 §9.5", expected: "it is not taken for the rest of that body"
            ) { talk, route in
                let aborted = Marker()
                let lines = try talk.credentialFields() + "Content-Length: 216\r\n"
                let stream = try await talk.open(
                    "attack",
                    try talk.canaryRequest(
                        "?\(aborted.value)", method: "POST", fields: lines, closes: false,
                        body: String(repeating: "x", count: 16)))
                _ = await stream.receive(within: .milliseconds(300)) { _ in false }
                await stream.close()
                for _ in 0..<8 { _ = try await talk.arrival(Marker()) }
                return try await talk.hasArrived("GET \(route)", in: aborted)
                    ? .failed("it arrived as a part of the other's body") : .passed("each request arrived as its own")
            },
        ]

    // MARK: P07: what Connection names

    private static let reference = "CVE-2024-45410, RFC 9110 §7.6.1"

    /// P07: `Connection` must not take away what the gateway itself says, nor what frames or routes the message.
    private static let listed: [Probe] = [
        .upstream(
            "P07-connection-length", "a request whose Connection names Content-Length", reference,
            expected: "its body stays a body"
        ) { talk, route in
            let (marker, hidden) = (Marker(), Marker())
            let body = "GET \(route)?\(hidden.value) HTTP/1.1\r\nHost: \(talk.target.authority)\r\n\r\n"
            let lines =
                try talk.credentialFields()
                + "Connection: close, Content-Length\r\nContent-Length: \(body.utf8.count)\r\n"
            _ = try await talk.attempt(
                "attack",
                try talk.canaryRequest(
                    "?\(marker.value)", method: "POST", fields: lines, closes: false, body: body))
            return try await talk.arrivals(of: "?\(hidden.value) HTTP/1.").isEmpty
                ? .passed("the body stayed a body") : .failed("the body arrived at the upstream as a request")
        },
        .upstream(
            "P07-connection-host", "a request whose Connection names Host", reference,
            expected: "the upstream is told the host"
        ) { talk, _ in
            let lines = "Connection: close, Host\r\n"
            guard let head = try await talk.arrival(Marker(), fields: lines, closes: false) else {
                return .passed("the request was refused")
            }
            return head.judged(has: ["host"])
        },
        .upstream(
            "P07-connection-forwarded", "a request whose Connection names the fields that say where it came from",
            reference, expected: "they arrive at the upstream"
        ) { talk, _ in
            let usual = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded"]
            let names = (try await talk.arrival(Marker())?.map(\.name) ?? []).filter(usual.contains)
            guard !names.isEmpty else { throw Unfit("the target does not say where a request came from") }
            let lines = "Connection: \((["close"] + names).joined(separator: ", "))\r\n"
            guard let head = try await talk.arrival(Marker(), fields: lines, closes: false) else {
                return .passed("the request was refused")
            }
            return head.judged(has: names)
        },
    ]
}
