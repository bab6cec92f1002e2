import Answers
import EdgeConfiguration
import Encodings
import HTTPTypes
import SecurityGuard
import SignIn
import StateSurface

/// Registration of accounts without a token, where `accounts.registration` allows it.
enum AccountRoutes {
    /// Named, since ``APIResponder`` leaves it out while registration or passwords are off.
    static let registerPath = "/api/auth/register"
    static let all = [
        APIRoute(
            .post, registerPath,
            APITerms(body: [.required("email"), .required("password"), .string("tenant_id")], store: true), register)
    ]

    /// Makes an account and answers with its id and tenant; the caller is not signed in. 409 where the e-mail is taken.
    private static func register(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let email = try proven.body.required("email")
        let password = try proven.body.required("password")
        let tenantID = try proven.body.string("tenant_id")
        let accounts = call.services.configuration.accounts
        let account = try await call.services.signIn.register(
            email: email, password: password, tenantID: tenantID, clientAddress: call.facts.clientAddress,
            terms: RegistrationTerms(isOpen: accounts.registration, tenants: accounts.registrationTenants))
        return .json([
            "user_id": .string(account.userID),
            "tenant_id": .string(account.tenantID),
            "email": .string(account.email),
        ])
    }
}
