import AsyncHTTPClient
import EdgeConfiguration
import Encodings
import GatewayForTests
import NIOCore
import NIOHTTP1
import Testing

/// The whole gateway, opened and drained by a program that it is part of.
@Suite("A gateway in another program", .timeLimit(.minutes(1))) struct GatewayTests {
    private static let password = "correct horse"

    private static func send(
        _ method: String, _ gateway: GatewayForTests, _ path: String, token: String? = nil, body: String? = nil
    ) async throws -> (status: Int, json: JSONObject) {
        var request = HTTPClientRequest(url: gateway.origin + path)
        request.method = .RAW(value: method)
        request.headers.add(name: "content-type", value: "application/json")
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), (try? StrictJSON.object(Array(bytes.readableBytesView))) ?? JSONObject())
    }

    private static func login(_ gateway: GatewayForTests) async throws -> String {
        try await gateway.addAccount("ada@example.com", password: password, tenant: "acme")
        let body = #"{"email":"ada@example.com","password":"\#(password)"}"#
        let answer = try await send("POST", gateway, "/api/auth/login", body: body)
        #expect(answer.status == 200)
        return try #require(answer.json["access_token"]?.stringValue)
    }

    @Test("It says where it listens, serves there, and is gone once it is drained")
    func lifeCycle() async throws {
        let origin = try await withGateway { gateway in
            let token = try await Self.login(gateway)
            #expect(try await Self.send("GET", gateway, "/api/auth/me", token: token).status == 200)
            return gateway.origin
        }
        await #expect(throws: (any Error).self) {
            try await HTTPClient.shared.execute(HTTPClientRequest(url: origin), timeout: .milliseconds(500))
        }
    }

    @Test("It uses the clock that it was given: a token expires without a wait")
    func clock() async throws {
        try await withGateway { gateway in
            let token = try await Self.login(gateway)
            gateway.clock.advance(by: .seconds(14 * 60))
            #expect(try await Self.send("GET", gateway, "/api/auth/me", token: token).status == 200)
            gateway.clock.advance(by: .seconds(2 * 60))
            let late = try await Self.send("GET", gateway, "/api/auth/me", token: token)
            #expect(late.status == 401 && late.json["code"]?.stringValue == "token_expired")
        }
    }

    @Test("Several of them live side by side, each with its own keys and accounts")
    func sideBySide() async throws {
        try await withGateway { one in
            try await withGateway { other in
                #expect(one.origin != other.origin)
                let token = try await Self.login(one)
                #expect(try await Self.send("GET", one, "/api/auth/me", token: token).status == 200)
                #expect(try await Self.send("GET", other, "/api/auth/me", token: token).status == 401)
            }
        }
    }

    @Test("A gateway that can't listen says so when it is opened")
    func occupiedPort() async throws {
        try await withGateway { gateway in
            let port = try #require(gateway.origin.split(separator: ":").last.flatMap { Int($0) })
            await #expect(throws: (any Error).self) {
                try await withGateway(adjust: { $0.server.listen.port = port }, { _ in })
            }
        }
    }

    @Test("A start that fails at its last step ends what it has started, and disturbs nothing else")
    func lateFailure() async throws {
        try await withGateway { other in
            let taken = try #require(other.origin.split(separator: ":").last.flatMap { Int($0) })
            func adjust(_ configuration: inout GatewayConfiguration) {
                configuration.server.admin = ListenAddress(host: "127.0.0.1", port: taken)
                configuration.tracing.otlp = "http://127.0.0.1:1"
            }
            await #expect(throws: (any Error).self) { try await withGateway(adjust: adjust, { _ in }) }
            #expect(try await Self.send("GET", other, "/.well-known/jwks.json").status == 200)
        }
    }
}
