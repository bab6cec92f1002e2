import Answers
import Encodings
import HTTPTypes
import Hummingbird
import Runtime
import SecurityGuard
import SignIn
import StateSurface

/// Passkeys: registering one while signed in, signing in with one, and the list of one's own.
///
/// `begin` answers with the options as the browser reads them (WebAuthn Level 3 §5.1.8-9), and `finish` takes what its
/// `toJSON()` writes. None of these paths exists where the issuer's host can't be an RP ID. A ceremony belongs to the
/// session that has begun it, and is finished in it.
enum PasskeyRoutes {
    static let all = [
        APIRoute(.post, "/api/auth/passkey/register/begin", beginRegistration),
        APIRoute(.post, "/api/auth/passkey/register/finish", finishRegistration),
        APIRoute(.post, "/api/auth/passkey/login/begin", beginLogin),
        APIRoute(.post, "/api/auth/passkey/login/finish", finishLogin),
        APIRoute(.get, "/api/auth/passkeys", list),
        APIRoute(.delete, "/api/auth/passkeys/{id}", remove),
    ]

    /// The members of `RegistrationResponseJSON` and `AuthenticationResponseJSON`.
    private static let credentialMembers = [
        "id", "rawId", "type", "response", "authenticatorAttachment", "clientExtensionResults",
    ]

    // MARK: Registering

    /// Options for `navigator.credentials.create()`. The caller needs an access token and a session.
    private static func beginRegistration(_ call: APICall) async throws -> APIAnswer {
        let service = try service(call)
        let principal = try call.principal()
        _ = try SecurityBody(call.facts.body, allowing: [])
        try call.services.requireStore()
        let session = try await session(call).session
        return .json(try await service.beginRegistration(of: principal, in: session))
    }

    /// 201 with the passkey, as ``list(_:)`` shows it.
    private static func finishRegistration(_ call: APICall) async throws -> APIAnswer {
        let service = try service(call)
        let principal = try call.principal()
        let body = try SecurityBody(call.facts.body, allowing: credentialMembers + ["name"])
        let name = try body.string("name")
        try call.services.requireStore()
        let session = try await session(call).session
        let passkey = try await service.finishRegistration(body.members, name: name, of: principal, in: session)
        var answer = APIAnswer.json(json(passkey))
        answer.status = .created
        return answer
    }

    // MARK: Signing in

    /// Options for `navigator.credentials.get()`. They name no account, so that they tell nothing about any.
    private static func beginLogin(_ call: APICall) async throws -> APIAnswer {
        let service = try service(call)
        _ = try SecurityBody(call.facts.body, allowing: [])
        try call.services.requireStore()
        return .json(try await service.beginSignIn(in: session(call).session))
    }

    /// Signs in like ``LoginRoute``: the session keeps its id and gets another secret.
    private static func finishLogin(_ call: APICall) async throws -> APIAnswer {
        let service = try service(call)
        let body = try SecurityBody(call.facts.body, allowing: credentialMembers + ["deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        try call.services.requireStore()
        let (session, secretHash) = try await session(call)
        let signIn = call.services.signIn
        let target = try await signIn.target(secretHash: secretHash, current: session, named: nil)
        do {
            let proved = try await service.prove(
                body.members, in: session, clientAddress: call.facts.clientAddress)
            let signedIn = try await signIn.signIn(proved, target: target, clientAddress: call.facts.clientAddress)
            return LoginRoute.answer(call, signedIn, wantsBody: wantsBody)
        } catch let fault as AuthError where fault.code == .invalidCredentials {
            // The same for every reason.
            throw Problem(.invalidCredentials, detail: "The passkey was not accepted.")
        }
    }

    // MARK: One's own

    private static func list(_ call: APICall) async throws -> APIAnswer {
        let passkeys = try await service(call).passkeys(of: call.principal())
        return .json(["passkeys": .array(passkeys.map { .object(json($0)) })])
    }

    /// 204; `not_found` for a passkey of another user, too. Sessions that began with it go on.
    private static func remove(_ call: APICall) async throws -> APIAnswer {
        let service = try service(call)
        let principal = try call.principal()
        _ = try SecurityBody(call.facts.body, allowing: [])
        try call.services.requireStore()
        // A text that is no base64url is the id of none.
        guard let id = Base64URL.decode(call.pathID) else { throw Problem(.notFound) }
        try await service.remove(credentialID: id, of: principal)
        return .noContent
    }

    // MARK: Shared

    private static func service(_ call: APICall) throws(Problem) -> PasskeyService {
        guard let service = call.services.passkeys else { throw Problem(.notFound) }
        return service
    }

    /// The live session of the presented secret. A ceremony belongs to one, so without one there is none.
    private static func session(_ call: APICall) async throws -> (session: SessionSnapshot, secretHash: [UInt8]) {
        let secret = try await call.presentedSecret()
        guard secret.counts else { throw Problem(.credentialsMissing) }
        guard let session = secret.session, let hash = secret.hash else {
            throw Problem(try await call.fault(ofUnusable: secret))
        }
        return (session, hash)
    }

    private static func json(_ passkey: PasskeyRecord) -> JSONObject {
        [
            "id": .string(Base64URL.encode(passkey.credentialID)),
            "name": .string(passkey.name),
            "created_at": .string(Timestamp.text(passkey.createdAt)),
            "last_used_at": passkey.lastUsedAt.map { .string(Timestamp.text($0)) } ?? .null,
            "backed_up": .bool(passkey.isBackedUp),
            "transports": .array(passkey.transports.map(JSONValue.string)),
        ]
    }
}
