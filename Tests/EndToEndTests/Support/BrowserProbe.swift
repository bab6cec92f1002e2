import Foundation

/// A browser as far as signing in concerns it: it keeps cookies, and says what its requests are.
struct BrowserProbe {
    let gateway: any GatewayUnderTest
    private(set) var cookies: [String: String] = [:]

    init(_ gateway: any GatewayUnderTest) { self.gateway = gateway }

    /// The same browser at another node of the same site.
    func at(_ other: any GatewayUnderTest) -> BrowserProbe {
        var browser = BrowserProbe(other)
        browser.cookies = cookies
        return browser
    }

    var sessionSecret: String? { cookies["gatehouse"] }

    /// A top-level navigation, as from a link; from another site, cookies with `SameSite=Strict` stay at home.
    mutating func navigate(_ path: String, from site: String = "none") throws -> RawResponse {
        var sent = cookies
        if site == "cross-site" { sent["gatehouse-refresh"] = nil }
        return try send(
            "GET", path, sent, [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Site", site), ("Accept", "text/html")])
    }

    /// A request of the site's own script.
    mutating func fetch(_ method: String, _ path: String, json: Any? = nil) throws -> RawResponse {
        try send(method, path, cookies, [("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Site", "same-origin")], json: json)
    }

    private mutating func send(
        _ method: String, _ path: String, _ sent: [String: String], _ headers: [(String, String)], json: Any? = nil
    ) throws -> RawResponse {
        let pairs = sent.filter { !$0.value.isEmpty }.map { "\($0.key)=\($0.value)" }.sorted()
        let cookie = pairs.isEmpty ? [] : [("Cookie", pairs.joined(separator: "; "))]
        let answer = try gateway.request(method, path, headers: headers + cookie, json: json)
        for field in answer.all("set-cookie") {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = pair.first else { continue }
            let value = pair.count > 1 ? pair[1] : ""
            cookies[name] = value.isEmpty ? nil : value
        }
        return answer
    }

    /// Signs in at a provider and comes back.
    /// - Returns: the answer of the callback.
    mutating func signIn(
        _ provider: FakeProvider, name: String = "idp", query: String = ""
    ) throws -> RawResponse {
        let there = try navigate("/api/auth/login/\(name)\(query)")
        guard there.status == 303, let location = there["location"] else { return there }
        return try navigate(try provider.authorize(location), from: "cross-site")
    }

    /// What the page does after a sign-in: the refresh cookie becomes an access token.
    mutating func tokens() throws -> LoggedIn {
        let answer = try fetch("POST", "/api/auth/refresh")
        guard answer.status == 200 else { throw GatewayFailure(description: "refresh: \(answer.text)") }
        return LoggedIn(answer.json)
    }
}
