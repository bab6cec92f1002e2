import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// What a client sees of the keys that a reload changes, before and after it.
enum ReloadObservations {
    /// How long to wait for what a timeout of a second or less does, in milliseconds.
    private static let longest: Int32 = 20_000

    // MARK: The listener

    static let origin: ReloadedKey.Observation = { gateway, _, isAfter in
        let answer = try gateway.request(
            "OPTIONS", "/api/auth/me",
            headers: [("Origin", "https://new.example"), ("Access-Control-Request-Method", "GET")])
        #expect((answer["access-control-allow-origin"] == "https://new.example") == isAfter)
    }

    static let connections: ReloadedKey.Observation = { gateway, _, isAfter in
        /// Of three connections, how many are served at a time.
        func served() throws -> Int {
            var held: [RawSocket] = []
            for _ in 0..<3 {
                let socket = try RawSocket(port: gateway.port)
                try? socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                guard (try? socket.response()) != nil else { break }
                held.append(socket)
            }
            return held.count
        }
        // Connections that were closed a moment ago may still count.
        let isLimited = try await eventually { try served() == (isAfter ? 1 : 2) }
        #expect(isLimited)
    }

    static let hosts: ReloadedKey.Observation = { gateway, _, isAfter in
        expectStatus(try gateway.raw("GET /o HTTP/1.1\r\nHost: other.example\r\n\r\n"), isAfter ? 421 : 200)
    }

    static let header: ReloadedKey.Observation = { gateway, _, isAfter in
        let long = String(repeating: "a", count: 4_000)
        expectStatus(try gateway.raw("GET /o HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n"), isAfter ? 431 : 200)
    }

    static let body: ReloadedKey.Observation = { gateway, _, isAfter in
        let body = String(repeating: "a", count: 100)
        expectStatus(try gateway.request("POST", "/o", body: body), isAfter ? 413 : 200)
    }

    static let headerTimeout: ReloadedKey.Observation = { gateway, _, isAfter in
        guard isAfter else { return }
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET /o HTTP/1.1\r\nHo")
        #expect(socket.isReadable(within: longest))
    }

    static let idleTimeout: ReloadedKey.Observation = { gateway, _, isAfter in
        guard isAfter else { return }
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET /o HTTP/1.1\r\nHost: h\r\n\r\n")
        expectStatus(try socket.response(), 200)
        #expect(socket.isReadable(within: longest))
    }

    // MARK: Sessions and sockets

    static let sessions: ReloadedKey.Observation = { gateway, _, isAfter in
        let first = try gateway.login(.ada)
        _ = try gateway.login(.ada)
        #expect(try await eventually { (try gateway.current(first.sessionSecret).status != 200) == isAfter })
    }

    static let message: ReloadedKey.Observation = { gateway, _, isAfter in
        let agent = try gateway.opened("/api/runtime/agent?\(try gateway.login(.ada).query)")
        let text = String(repeating: "a", count: 2_000)
        try agent.send(text: #"{"type":"intent","id":"a","intent":"echo","params":{"text":"\#(text)"}}"#)
        if isAfter {
            #expect(try agent.closing()?.hasPrefix("1009") == true)
        } else {
            #expect(try agent.message()?.json["id"] as? String == "a")
        }
    }

    static let ping: ReloadedKey.Observation = { gateway, _, isAfter in
        guard isAfter else { return }
        let agent = try gateway.opened("/api/runtime/agent?\(try gateway.login(.ada).query)")
        #expect(try agent.next()?.opcode == 9)
    }

    static let socketRefusal: ReloadedKey.Observation = { gateway, _, isAfter in
        let refused = try gateway.socket("/api/runtime/agent", headers: [("Origin", "https://new.example")])
        expectStatus(refused.answer, isAfter ? 101 : 401)
    }

    static let lifetime: ReloadedKey.Observation = { gateway, _, isAfter in
        guard isAfter else { return }
        let agent = try gateway.opened("/api/runtime/agent?\(try gateway.login(.ada).query)")
        gateway.clock.advance(by: .seconds(61))
        #expect(try agent.closing() == "4401 token_expired")
    }

    static let sockets: ReloadedKey.Observation = { gateway, _, isAfter in
        // Another user than before: sockets that were closed a moment ago may still count.
        let path = "/api/runtime/agent?\(try gateway.login(isAfter ? .bob : .ada).query)"
        let first = try gateway.opened(path)
        expectStatus(try gateway.socket(path).answer, isAfter ? 429 : 101)
        withExtendedLifetime(first) {}
    }

    // MARK: Limits

    static let logins: ReloadedKey.Observation = { gateway, _, isAfter in
        let wrong = TestUser(email: "ada@example.com", password: "wrong horse", tenant: "acme")
        let statuses = try (0..<3).map { _ in try gateway.attemptLogin(wrong).status }
        #expect(statuses.contains(429) == isAfter, "\(statuses)")
    }

    static let anonymous: ReloadedKey.Observation = { gateway, _, isAfter in
        let none: [String: String] = [:]
        let statuses = try (0..<3).map { _ in
            try gateway.request("POST", "/api/session/create-anonymous", json: none).status
        }
        #expect(statuses.contains(429) == isAfter, "\(statuses)")
    }

    // MARK: Accounts, clients and what is told

    static let registration: ReloadedKey.Observation = { gateway, _, isAfter in
        let body = ["email": "new\(isAfter)@example.com", "password": "a long enough one"]
        expectStatus(try gateway.request("POST", "/api/auth/register", json: body), isAfter ? 404 : 200)
    }

    static let registrationTenant: ReloadedKey.Observation = { gateway, _, isAfter in
        let body = ["email": "new@example.com", "password": "a long enough one", "tenant_id": "people"]
        expectStatus(try gateway.request("POST", "/api/auth/register", json: body), isAfter ? 200 : 400)
    }

    static let passwords: ReloadedKey.Observation = { gateway, _, isAfter in
        expectStatus(try gateway.attemptLogin(.ada), isAfter ? 404 : 200)
    }

    static let clients: ReloadedKey.Observation = { gateway, _, isAfter in
        let body = ["redirect_uris": ["https://app.example/cb"]]
        expectStatus(try gateway.request("POST", "/oauth2/register", json: body), isAfter ? 404 : 201)
    }

    static let clientsPerHour: ReloadedKey.Observation = { gateway, _, isAfter in
        let body = ["redirect_uris": ["https://app.example/cb"]]
        let statuses = try (0..<2).map { _ in try gateway.request("POST", "/oauth2/register", json: body).status }
        #expect(statuses.contains(429) == isAfter, "\(statuses)")
    }

    static let reason: ReloadedKey.Observation = { gateway, _, isAfter in
        let reason = try gateway.me("no-token").json["reason"]
        #expect((reason != nil) == isAfter)
    }

    static let sampling: ReloadedKey.Observation = { gateway, upstream, isAfter in
        expectStatus(try gateway.request("GET", "/o"), 200)
        let told = upstream.requests.last { $0.target == "/o" }?["traceparent"]
        #expect(told?.hasSuffix(isAfter ? "-01" : "-00") == true, "\(told ?? "nothing")")
    }
}
