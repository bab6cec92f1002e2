import Encodings
import Passkeys
import Runtime
import SecurityGuard
import StateSurface

extension PasskeyService {
    /// Begins the registration of a passkey for the account of a token, in a session of that account.
    ///
    /// - Returns: the options for `navigator.credentials.create()`.
    /// - Throws: `SessionFault` `.mismatch` if the session is not the account's; ``PasskeyFault`` `.tooMany`;
    ///   `AuthError` `.invalidCredentials` for a token without an account, or of a disabled one; the store's errors.
    package func beginRegistration(of principal: Principal, in session: SessionSnapshot) async throws -> JSONObject {
        let account = try await account(of: principal, in: session)
        let existing = try await store.passkeys(userID: account.userID)
        guard existing.count < Self.maximumPerAccount else { throw PasskeyFault(.tooMany) }
        let label = account.email.isEmpty ? account.userID : account.email
        let begun = BegunCeremony.registration(
            party, userID: account.userID, userName: label, displayName: account.name ?? label,
            existing: existing.compactMap(Passkey.init), sessionID: session.id, sessionEpoch: session.epoch,
            now: clock())
        try await keep(begun.ceremony)
        return begun.options
    }

    /// Finishes a registration with the answer of the browser.
    ///
    /// - Parameters:
    ///   - answer: `RegistrationResponseJSON`.
    ///   - name: what the owner calls the passkey; nil for none.
    /// - Returns: the passkey, which is stored.
    /// - Throws: as ``beginRegistration(of:in:)``; ``PasskeyFault`` `.refused` for an answer that is not accepted,
    ///   `.nameMalformed`.
    package func finishRegistration(
        _ answer: JSONObject, name: String?, of principal: Principal, in session: SessionSnapshot
    ) async throws -> PasskeyRecord {
        if let name { try Self.check(name: name) }
        let account = try await account(of: principal, in: session)
        do {
            let passkey = try await judge(answer, account, session)
            let record = passkey.record(name: name ?? "")
            // The token that asks may have ended since it was judged.
            let judged = JudgedOwner(credentialEpoch: account.credentialEpoch, familyID: principal.familyID)
            guard try await store.insert(passkey: record, judged: judged, limit: Self.maximumPerAccount) else {
                throw PasskeyFault(.tooMany)
            }
            report(.passkeyRegistered, of: account)
            return record
        } catch let refusal as PasskeyRefusal {
            throw refused(refusal, account)
        } catch let error as StateSurfaceError where error.code == .duplicate {
            throw refused(.credentialKnown, account)
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            // The account was disabled in the meantime.
            throw AuthError(.invalidCredentials)
        }
    }

    private func judge(
        _ answer: JSONObject, _ account: AccountRecord, _ session: SessionSnapshot
    ) async throws -> Passkey {
        let registration = try Registration(answer)
        guard let hash = registration.challengeHash else { throw PasskeyRefusal.ceremonyUnknown }
        let ceremony = try await take(challengeHash: hash)
        // A session has one owner, so this holds for every ceremony that began in it; it is checked all the same.
        if let ceremony, ceremony.userID?.hasSameBytes(as: account.userID) != true {
            throw PasskeyRefusal.ceremonyOfOtherSession
        }
        let known = try await store.passkey(credentialID: registration.credentialID) != nil
        return try registration.finish(
            ceremony, party, sessionID: session.id, sessionEpoch: session.epoch, isKnown: { _ in known },
            now: clock()
        ).get()
    }

    private func account(of principal: Principal, in session: SessionSnapshot) async throws -> AccountRecord {
        let account = try await account(of: principal)
        guard session.isOwned(tenantID: principal.tenantID, userID: principal.subject) else {
            throw SessionFault(.mismatch)
        }
        return account
    }

    private static func check(name: String) throws(PasskeyFault) {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard (1...maximumNameBytes).contains(name.utf8.count), isPlain else { throw PasskeyFault(.nameMalformed) }
    }

    private func refused(_ refusal: PasskeyRefusal, _ account: AccountRecord) -> PasskeyFault {
        report(.passkeyRefused, of: account, reason: refusal.rawValue)
        return PasskeyFault(.refused, reason: refusal.rawValue)
    }

    private func report(_ name: AuditEvent.Name, of account: AccountRecord, reason: String = "") {
        signIn.securityGuard.record(
            AuditEvent(name, reason: reason, tenantID: account.tenantID, subject: account.userID))
    }
}
