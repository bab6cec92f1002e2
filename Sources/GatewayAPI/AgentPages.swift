import Answers
import AuthorizationServer
import Encodings
import HTTPTypes
import Libcrypto
import SignIn

/// The pages of the authorization endpoint. They need no script, can't be framed, and load nothing.
enum AgentPages {
    /// The question whether a client may have access. Everything that the client or the person has said is escaped. The
    /// name of a client that registered itself is marked as unchecked, and the address that it returns to is always
    /// shown, since names can be made up.
    ///
    /// - Parameter action: the path that the form is sent to.
    static func consent(_ question: ConsentQuestion, action: String) -> APIAnswer {
        let client = question.client
        let who = question.email.isEmpty ? "" : "<p>You are signed in as <strong>\(text(question.email))</strong>.</p>"
        let scopes =
            question.scopes.isEmpty
            ? "<li>no particular permission</li>"
            : question.scopes.map { "<li><code>\(text($0))</code></li>" }.joined()
        let offline =
            question.resource.offline
            ? """
            <p><label><input type="checkbox" name="offline" value="true"> Keep this access after I sign out</label></p>
            """ : ""
        let body = """
            <h1>Allow access?</h1>
            <p><strong>\(text(client.name))</strong> asks for access to <strong>\(text(question.resource.name))</strong>
            in your name.</p>
            \(who)<dl>
            <dt>Application</dt><dd>\(text(client.name))<br>\(origin(of: client))</dd>
            <dt>Returns to</dt><dd><code>\(text(question.redirectURI.place))</code>\(hint(question.redirectURI))</dd>
            <dt>Resource</dt><dd>\(text(question.resource.name))<br><code>\(text(question.resource.identifier))</code></dd>
            <dt>Permissions</dt><dd><ul>\(scopes)</ul></dd>
            </dl>
            <form method="post" action="\(action)">
            <input type="hidden" name="request" value="\(text(question.requestID))">
            \(offline)<p class="choice"><button name="decision" value="allow">Allow</button>
            <button name="decision" value="deny" class="quiet">Deny</button></p>
            </form>
            <p class="note">Allow this only if you have just asked this application for it.</p>
            """
        return answer("Allow access?", body, status: .ok)
    }

    /// A fault that the person is told, because there is no application to return to.
    ///
    /// - Parameter detail: one sentence; it is escaped.
    static func fault(_ detail: String, status: HTTPResponse.Status) -> APIAnswer {
        answer("This does not work", "<h1>This does not work</h1>\n<p>\(text(detail))</p>", status: status)
    }

    private static func origin(of client: AuthorizationClient) -> String {
        switch client.origin {
        case .document: "It is what <code>\(text(client.host ?? client.id))</code> publishes about itself."
        case .configured: "It was added by the operator of this server (<code>\(text(client.id))</code>)."
        case .registered:
            "The application chose this name itself; it has not been verified (<code>\(text(client.id))</code>)."
        }
    }

    private static func hint(_ uri: RedirectURI) -> String {
        switch uri.kind {
        case .https: ""
        case .loopbackAddress, .localhost: "<br>This is a program on the computer that you are using."
        case .privateScheme: "<br>This is an app on the device that you are using."
        }
    }

    // MARK: The frame of a page

    private static let style = """
        :root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:2rem auto;padding:0 \
        1rem}h1{font-size:1.4rem}dt{font-weight:600;margin-top:.75rem}dd{margin:0;overflow-wrap:anywhere}ul{margin:0;\
        padding-left:1.2rem}button{font:inherit;padding:.6rem 1.4rem;border-radius:.4rem;border:1px solid #1a56b0;\
        background:#1a56b0;color:#fff;cursor:pointer}button.quiet{background:transparent;color:inherit;border-color:\
        currentColor}button:focus-visible,input:focus-visible{outline:3px solid #f0a000;outline-offset:2px}.choice{\
        display:flex;gap:1rem}.note{opacity:.8}
        """

    /// The style is allowed by its hash, and nothing else is loaded or run.
    private static let policy =
        "default-src 'none'; style-src 'sha256-\(base64(Digest.sha256(style.utf8)))'; base-uri 'none'; "
        + "frame-ancestors 'none'; require-trusted-types-for 'script'"

    private static func answer(_ title: String, _ body: String, status: HTTPResponse.Status) -> APIAnswer {
        let html = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>\(text(title))</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"><style>\(style)</style></head>
            <body><main>
            \(body)
            </main></body></html>
            """
        return APIAnswer(
            status: status, contentType: "text/html; charset=utf-8", body: Array(html.utf8),
            headers: [
                // No `form-action`: browsers apply it to the redirect to the client, too.
                ("Content-Security-Policy", policy), ("X-Frame-Options", "DENY"),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
                ("Cross-Origin-Opener-Policy", "same-origin"),
            ])
    }

    private static func text(_ value: String) -> String { HTMLText.escaped(value) }

    private static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}
