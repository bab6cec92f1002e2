/// The pages and their parts. They are embedded in the binary, so that there are no files to install beside it.
package enum WebAssets {
    /// The folder of what is served also when a route covers `/`.
    static let ownFolder = "/.gatehouse/"
    /// The description of the API.
    package static let openAPIPath = "/openapi.yaml"
    /// The page that signs people in and brings them back to the `return_to` of its query.
    package static let signInPath = "/.gatehouse/sign-in"

    /// All assets of the public listener, the page first. Their paths are reserved: they are matched before the
    /// configured routes.
    package static let all: [WebAsset] = [
        WebAsset(path: "/", contentType: page, bytes: PackageResources.index_html),
        WebAsset(path: "/console.js", contentType: script, bytes: PackageResources.console_js),
        WebAsset(path: "/console.css", contentType: style, bytes: PackageResources.console_css),
        WebAsset(path: "/exchanges.js", contentType: script, bytes: PackageResources.exchanges_js),
        WebAsset(path: "/favicon.svg", contentType: image, bytes: PackageResources.favicon_svg),
        WebAsset(path: "/gatehouse.js", contentType: script, bytes: PackageResources.gatehouse_js),
        WebAsset(path: signInPath, contentType: page, bytes: PackageResources.sign_in_html),
        WebAsset(path: "/.gatehouse/sign-in-page.js", contentType: script, bytes: PackageResources.sign_in_page_js),
        WebAsset(path: "/.gatehouse/sign-in.js", contentType: script, bytes: PackageResources.sign_in_js),
        WebAsset(path: "/.gatehouse/words.js", contentType: script, bytes: PackageResources.words_js),
        WebAsset(path: "/.gatehouse/pages.css", contentType: style, bytes: PackageResources.pages_css),
        WebAsset(path: "/.gatehouse/favicon.svg", contentType: image, bytes: PackageResources.favicon_svg),
        WebAsset(path: "/inspect", contentType: page, bytes: PackageResources.inspect_html),
        WebAsset(path: "/inspect.js", contentType: script, bytes: PackageResources.inspect_js),
        WebAsset(path: "/token-lints.js", contentType: script, bytes: PackageResources.token_lints_js),
        WebAsset(
            path: openAPIPath, contentType: "application/yaml", bytes: PackageResources.openapi_yaml, for: .everyone),
    ]

    /// The operator's console and its parts, for the admin listener alone.
    package static let admin: [WebAsset] = [
        WebAsset(path: "/", contentType: page, bytes: PackageResources.admin_html),
        WebAsset(path: "/admin.css", contentType: style, bytes: PackageResources.admin_css),
        WebAsset(path: "/admin.js", contentType: script, bytes: PackageResources.admin_js),
        WebAsset(path: "/admin-api.js", contentType: script, bytes: PackageResources.admin_api_js),
        WebAsset(path: "/admin-chart.js", contentType: script, bytes: PackageResources.admin_chart_js),
        WebAsset(path: "/admin-list.js", contentType: script, bytes: PackageResources.admin_list_js),
        WebAsset(path: "/admin-metrics.js", contentType: script, bytes: PackageResources.admin_metrics_js),
        WebAsset(path: "/admin-overview.js", contentType: script, bytes: PackageResources.admin_overview_js),
        WebAsset(path: "/admin-parts.js", contentType: script, bytes: PackageResources.admin_parts_js),
        WebAsset(path: "/admin-rows.js", contentType: script, bytes: PackageResources.admin_rows_js),
        WebAsset(path: "/.gatehouse/pages.css", contentType: style, bytes: PackageResources.pages_css),
        WebAsset(path: "/.gatehouse/words.js", contentType: script, bytes: PackageResources.words_js),
        WebAsset(path: "/favicon.svg", contentType: image, bytes: PackageResources.favicon_svg),
        WebAsset(
            path: "/openapi-admin.yaml", contentType: "application/yaml", bytes: PackageResources.openapi_admin_yaml),
    ]

    /// Sent with the pages and their parts.
    ///
    /// Only the gateway's own files are loaded and run, and the page cannot be framed. `connect-src 'self'` includes
    /// WebSockets to the same origin. `form-action 'none'` prevents that the login form sends a password by itself if
    /// its script did not load.
    static let headers: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ("Cache-Control", "no-cache"),
    ]

    /// Sent with what is public: it may be kept for five minutes.
    static let publicHeaders: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        ("Cache-Control", "public, max-age=300"),
    ]

    /// The asset of the operator's listener at a path, or nil.
    package static func adminAsset(for path: String) -> WebAsset? {
        admin.first { $0.path.utf8.elementsEqual(path.utf8) }
    }

    /// The asset at a canonical path, or nil.
    package static func asset(for path: String) -> WebAsset? {
        all.first { $0.path.utf8.elementsEqual(path.utf8) }
    }

    private static let page = "text/html; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"
    private static let style = "text/css; charset=utf-8"
    private static let image = "image/svg+xml"
}
