import BasicsForTests
import Encodings
import JOSE
import Synchronization
import Testing

@testable import IdentityProviders

/// A gateway, a store of pending logins, a browser and a provider that goes by a script.
final class World: Sendable {
    let clock = TestClock()
    private let script: Mutex<Script>
    private let log = Mutex<[ProviderRequest]>([])
    private let nonce = Mutex<String?>(nil)
    private let store = Mutex<[[UInt8]: String]>([:])

    init(_ script: Script) { self.script = Mutex(script) }

    /// Every request to the provider, in order.
    var requests: [ProviderRequest] { log.withLock { $0 } }
    func requests(to url: String) -> Int { requests.count { $0.url.text == url } }
    func change(_ edit: @Sendable (inout Script) -> Void) { script.withLock { edit(&$0) } }
    var current: Script { script.withLock { $0 } }

    func provider() -> IdentityProvider {
        let signer = try? TestKeys.other.get()
        return IdentityProvider(
            current.configuration, issuer: gatewayIssuer, leeway: 30, clientKey: { signer },
            fetch: { request, _ in try self.answer(request) }, clock: clock.read)
    }

    private func answer(_ request: ProviderRequest) throws -> ProviderAnswer {
        log.withLock { $0.append(request) }
        let script = current
        switch request.url.text {
        case "https://idp.example/.well-known/openid-configuration":
            return try script.discoveryAnswer(.json(.object(script.discovery)))
        case "https://keys.example/jwks":
            let text = JWKSet.publicJSON(of: script.keys.map(\.verificationKey))
            return try script.keySetAnswer(
                ProviderAnswer(status: 200, contentType: "application/json", body: Array(text.utf8)))
        case "https://idp.example/token", "https://github.com/login/oauth/access_token":
            var tokens = script.tokens
            if script.configuration.kind == .oidc {
                tokens["id_token"] = .string(try script.idToken(nonce: nonce.withLock { $0 }))
            }
            script.editTokens(&tokens)
            return try script.tokenAnswer(.json(.object(tokens)))
        case "https://idp.example/userinfo", "https://api.github.com/user":
            return try script.userInfoAnswer(.json(.object(script.userInfo)))
        case "https://api.github.com/user/emails": return .json(script.emails)
        default: throw ProviderFault(.unreachable, "no such place in the test")
        }
    }

    /// The query with which an honest provider sends the browser back.
    func begin(_ provider: IdentityProvider) async throws -> [FormParameter] {
        let script = current
        let returnTo = try #require(ReturnTo(script.returnTo))
        let begun = try await provider.begin(session: session, returnTo: returnTo, hints: script.hints)
        store.withLock { $0[begun.pending.stateHash] = begun.pending.stored }
        let query = begun.location.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
        let sent = FormText.decode(query) ?? []
        nonce.withLock { $0 = sent.first { $0.name == "nonce" }?.value }
        let state = sent.first { $0.name == "state" }?.value ?? ""
        var response = [FormParameter("code", "the-code"), FormParameter("state", state)]
        if script.configuration.kind == .oidc { response.append(FormParameter("iss", "https://idp.example")) }
        return response
    }

    func finish(_ provider: IdentityProvider, _ response: [FormParameter]) async throws -> IdentityProvider.Ending {
        try await provider.finish(
            query: FormText.encode(response), session: current.sessionAtReturn,
            findPending: { hash in
                self.store.withLock { $0[hash] }.flatMap { PendingLogin(stateHash: hash, stored: $0) }
            },
            takePending: { hash in self.store.withLock { $0.removeValue(forKey: hash) } != nil })
    }

    /// A whole sign-in.
    func signIn() async throws -> IdentityProvider.Ending {
        let provider = provider()
        let response = try await begin(provider)
        clock.advance(by: current.delay)
        return try await finish(provider, current.response(response))
    }
}

/// How an ending reads in a table: `identified`, `state: …`, or `login_error: label`.
extension IdentityProvider.Ending {
    var summary: String {
        switch self {
        case .refused(let fault): "state: \(fault.rawValue)"
        case .sentBack(_, let failure): "\(failure.loginError.rawValue): \(failure.label)"
        case .identified: "identified"
        }
    }
}

/// One lie, and what it has to lead to.
struct Lie: Sendable, CustomTestStringConvertible {
    let name: String
    let expected: String
    let tell: @Sendable (inout Script) throws -> Void

    init(_ name: String, _ expected: String, _ tell: @escaping @Sendable (inout Script) throws -> Void) {
        self.name = name
        self.expected = expected
        self.tell = tell
    }

    var testDescription: String { name }

    func told(_ script: Script) throws -> Script {
        var script = script
        try tell(&script)
        return script
    }
}
