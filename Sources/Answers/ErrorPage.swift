/// A refusal as a page for people. It has no script, no style and no form, and shows nothing that a request said.
enum ErrorPage {
    /// The header fields of the page. No other page may frame it, and its address is sent to no server as a referrer.
    static let fields: [(name: String, value: String)] = [
        ("Content-Type", "text/html; charset=utf-8"),
        (
            "Content-Security-Policy",
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'"
        ),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ]

    /// The page.
    /// - Parameter explain: whether the reason is shown (`errors.explain`).
    static func html(_ problem: Problem, requestID: String, explain: Bool) -> [UInt8] {
        var lines = [
            "<!doctype html>", "<html lang=\"en\">", "<head><meta charset=\"utf-8\">",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
            "<title>\(HTMLText.escaped(problem.code.title))</title></head>", "<body>",
            "<h1>\(HTMLText.escaped(problem.code.title))</h1>", "<p>\(HTMLText.escaped(problem.detail))</p>",
        ]
        if explain, let reason = problem.reason {
            lines.append("<p>Reason: <code>\(HTMLText.escaped(reason))</code></p>")
        }
        lines += [
            "<p><a href=\"/\">Start again</a></p>",
            "<p><small><code>\(problem.code.rawValue)</code>, "
                + "request <code>\(HTMLText.escaped(requestID))</code></small></p>",
            "</body>", "</html>", "",
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }
}
