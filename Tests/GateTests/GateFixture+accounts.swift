import Answers
import EdgeConfiguration
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

@testable import Gate
@testable import SecurityGuard

/// The caller's account, and the ways in which the caller may come.
extension GateFixture {
    enum AccountFault: Error { case unchanged, noSession }

    /// Changes the caller's account, and returns its id.
    func setAccount(_ change: (inout AccountRecord) -> Void) async throws -> String {
        let userID = try guarding.judge(token: credentials.token.utf8).get().subject
        guard var account = try await state.account(userID: userID) else { throw AccountFault.unchanged }
        change(&account)
        guard try await state.replace(account: account) else { throw AccountFault.unchanged }
        return userID
    }

    /// The secret of a live session without an owner.
    func anonymousSecret() async throws -> String {
        let intent = SessionIntent(kind: .anonymous, clientAddress: "192.0.2.1")
        let contract = try trafficCop.prepare(intent).get()
        let opening = try runtime.prepare(contract, for: intent, secretHash: [], familyID: nil)
        return try await runtime.open(opening).secret.text
    }

    /// Each way to come in with good credentials.
    func ways() async throws -> [(GateRequest.Way, RouteConfiguration.Requirement, () async throws -> Carried)] {
        let both = { (way: GateRequest.Way) in self.token(.valid, way) + self.session(.valid, way) }
        return [
            (.fields, .token, { self.token(.valid, .fields) }),
            (.fields, .tokenAndSession, { both(.fields) }),
            (.fields, .tokenAndSession, { self.token(.valid, .fields) + self.cookie(.valid) }),
            (.fields, .session, { self.secret(.valid) }),
            (.handshake, .token, { self.token(.valid, .handshake) }),
            (.handshake, .tokenAndSession, { both(.handshake) }),
            (.handshake, .tokenAndSession, { .query("ticket", try await self.ticket()) }),
            (.handshake, .session, { self.secret(.valid) }),
        ]
    }

    /// The refusal of a request; nil if it passes.
    func problem(_ request: Carried, _ way: GateRequest.Way, _ terms: AccessTerms) async throws -> Problem? {
        do {
            _ = try await admission(request, way, terms)
            return nil
        } catch let problem as Problem {
            return problem
        }
    }
}

extension Principal {
    /// A caller who signed in at this time, in this way.
    static func forTests(authenticatedAt: Int64?, acr: String?) -> Principal {
        Principal(
            tenantID: "acme", subject: "usr_a", clientID: "gatehouse", scope: [], tokenID: "j", familyID: nil,
            issuedAt: 0, expiresAt: .max, authenticatedAt: authenticatedAt, acr: acr, keyThumbprint: "k")
    }
}
