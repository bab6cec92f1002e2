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
        APIRoute(
            .post, "/api/auth/passkey/register/begin",
            APITerms(credential: .token, body: [], store: true, session: .ofSecret), beginRegistration),
        APIRoute(
            .post, "/api/auth/passkey/register/finish",
            APITerms(credential: .token, body: registration, store: true, session: .ofSecret), finishRegistration),
        APIRoute(
            .post, "/api/auth/passkey/login/begin", APITerms(body: [], store: true, session: .ofSecret), beginLogin),
        APIRoute(
            .post, "/api/auth/passkey/login/finish", APITerms(body: assertion, store: true, session: .ofSecret),
            finishLogin),
        APIRoute(.get, "/api/auth/passkeys", APITerms(credential: .token), list),
        APIRoute(.delete, "/api/auth/passkeys/{id}", APITerms(credential: .token, body: [], store: true), remove),
    ]

    /// The members of `RegistrationResponseJSON` and `AuthenticationResponseJSON`.
    private static let credential: [BodyMember] = [
        .anything("id"), .anything("rawId"), .anything("type"), .anything("response"),
        .anything("authenticatorAttachment"), .anything("clientExtensionResults"),
    ]
    private static let registration: [BodyMember] = credential + [BodyMember.string("name")]
    private static let assertion: [BodyMember] = credential + [BodyMember.deliver]

    // MARK: Registering

    /// Options for `navigator.credentials.create()`. The caller needs an access token and a session.
    private static func beginRegistration(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let session = try proven.sessionOfSecret().session
        return .json(try await service(call).beginRegistration(of: proven.caller(), in: session))
    }

    /// 201 with the passkey, as ``list(_:_:)`` shows it.
    private static func finishRegistration(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let name = try proven.body.string("name")
        let session = try proven.sessionOfSecret().session
        let passkey = try await service(call).finishRegistration(
            proven.body.members, name: name, of: proven.caller(), in: session)
        return .created(json(passkey))
    }

    // MARK: Signing in

    /// Options for `navigator.credentials.get()`. They name no account, so that they tell nothing about any.
    private static func beginLogin(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        .json(try await service(call).beginSignIn(in: proven.sessionOfSecret().session))
    }

    /// Signs in like ``LoginRoute``: the session keeps its id and gets another secret.
    private static func finishLogin(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let service = try service(call)
        let wantsBody = try proven.body.wantsBodyDelivery()
        let found = try proven.sessionOfSecret()
        let signIn = call.services.signIn
        let target = try await signIn.target(secretHash: found.hash, current: found.session, named: nil)
        do {
            let proved = try await service.prove(
                proven.body.members, in: found.session, clientAddress: call.facts.clientAddress)
            let signedIn = try await signIn.signIn(proved, target: target, clientAddress: call.facts.clientAddress)
            return LoginRoute.answer(call, signedIn, wantsBody: wantsBody)
        } catch let fault as AuthError where fault.code == .invalidCredentials {
            // The same for every reason.
            throw Problem(.invalidCredentials, detail: "The passkey was not accepted.")
        }
    }

    // MARK: One's own

    private static func list(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let passkeys = try await service(call).passkeys(of: proven.caller())
        return .json(["passkeys": .array(passkeys.map { .object(json($0)) })])
    }

    /// 204; `not_found` for a passkey of another user, too. Sessions that began with it go on.
    private static func remove(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        // A text that is no base64url is the id of none.
        guard let id = Base64URL.decode(call.pathID) else { throw Problem(.notFound) }
        try await service(call).remove(credentialID: id, of: proven.caller())
        return .noContent
    }

    // MARK: Shared

    /// There is one wherever these routes are.
    private static func service(_ call: APICall) throws(Problem) -> PasskeyService {
        guard let service = call.services.passkeys else { throw Problem(.notFound) }
        return service
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
