import Encodings
import Libcrypto

/// A sign-in that was begun, as it is stored until the browser comes back: once, by any node, within ten minutes.
///
/// Nothing in it is secret: `state` is hashed, and nonce and code verifier can only be made again with the session's
/// secret (``LoginSecrets``).
package struct PendingLogin: Sendable, Equatable {
    /// How long it may take, in milliseconds.
    package static let lifetime: Int64 = 600_000
    /// The most that a session may have at a time; one more drops the oldest.
    package static let maximumPerSession = 10

    /// SHA-256 of the `state`: what it is found by.
    package let stateHash: [UInt8]
    /// The provider's name in the configuration.
    package let provider: String
    /// The issuer that the request went to.
    package let issuer: String
    /// The session of the browser that began.
    package let sessionID: String
    /// The session's epoch at the beginning: after any change of its privileges the sign-in can't be finished.
    package let sessionEpoch: Int64
    /// The S256 challenge that was sent. Making its verifier again takes the session's secret.
    package let codeChallenge: String
    /// Where the browser goes in the end.
    package let returnTo: ReturnTo
    /// The `max_age` that was asked for, in seconds.
    package let maximumAge: Int64?
    /// Milliseconds since 1970, by the clock of the node where it began.
    package let createdAt: Int64
    /// Milliseconds since 1970, by the clock of the store that all nodes share; nil until it is stored. The browser is
    /// sent to the provider after that, so what the provider then says of the person is newer.
    package var keptAt: Int64?

    /// When it can no longer be finished, in milliseconds since 1970.
    package var expiresAt: Int64 { createdAt.addingReportingOverflow(Self.lifetime).partialValue }

    package init(
        stateHash: [UInt8], provider: String, issuer: String, sessionID: String, sessionEpoch: Int64,
        codeChallenge: String, returnTo: ReturnTo, maximumAge: Int64?, createdAt: Int64
    ) {
        self.stateHash = stateHash
        self.provider = provider
        self.issuer = issuer
        self.sessionID = sessionID
        self.sessionEpoch = sessionEpoch
        self.codeChallenge = codeChallenge
        self.returnTo = returnTo
        self.maximumAge = maximumAge
        self.createdAt = createdAt
    }

    /// The hash by which the pending login of a `state` is found.
    package static func hash(ofState state: String) -> [UInt8] { Digest.sha256(state.utf8) }

    // MARK: Stored form

    /// Everything but the hash, as the text that is stored beside it.
    package var stored: String {
        var object: JSONObject = [
            "provider": .string(provider), "issuer": .string(issuer), "session": .string(sessionID),
            "epoch": .integer(sessionEpoch), "challenge": .string(codeChallenge),
            "return_to": .string(returnTo.text), "created": .integer(createdAt),
        ]
        if let maximumAge { object["max_age"] = .integer(maximumAge) }
        if let keptAt { object["kept"] = .integer(keptAt) }
        return object.serialized()
    }

    /// Reads the stored form; nil if it is not one.
    package init?(stateHash: [UInt8], stored: String) {
        guard let object = try? StrictJSON.object(stored), let provider = object["provider"]?.stringValue,
            let issuer = object["issuer"]?.stringValue, let sessionID = object["session"]?.stringValue,
            let epoch = object["epoch"]?.int64Value, let challenge = object["challenge"]?.stringValue,
            let returnTo = object["return_to"]?.stringValue.flatMap(ReturnTo.init),
            let createdAt = object["created"]?.int64Value
        else { return nil }
        let age = object["max_age"]
        let kept = object["kept"]
        guard age == nil || age?.int64Value != nil, kept == nil || kept?.int64Value != nil else { return nil }
        self.init(
            stateHash: stateHash, provider: provider, issuer: issuer, sessionID: sessionID, sessionEpoch: epoch,
            codeChallenge: challenge, returnTo: returnTo, maximumAge: age?.int64Value, createdAt: createdAt)
        keptAt = kept?.int64Value
    }

    // MARK: Judgement

    /// Judges whether the browser that came back is the one that was sent, in time, to the same provider.
    ///
    /// - Returns: the secrets of the sign-in, made again.
    func secrets(
        state: String, provider: ProviderConfiguration, session: BrowserSession?, now: Int64
    ) -> Result<LoginSecrets, StateFault> {
        guard ConstantTime.equal(stateHash, Self.hash(ofState: state)) else { return .failure(.unknown) }
        guard now >= createdAt, now - createdAt < Self.lifetime else { return .failure(.expired) }
        guard self.provider.hasSameBytes(as: provider.name), issuer.hasSameBytes(as: provider.issuer) else {
            return .failure(.otherProvider)
        }
        guard let session, session.sessionID.hasSameBytes(as: sessionID) else { return .failure(.otherBrowser) }
        guard session.epoch == sessionEpoch else { return .failure(.secretRotated) }
        let secrets = LoginSecrets(state: state, session: session)
        guard ConstantTime.equal(Array(secrets.codeChallenge.utf8), Array(codeChallenge.utf8)) else {
            return .failure(.secretRotated)
        }
        return .success(secrets)
    }
}

/// Why a callback has no good `state`: all of them are one answer, `login_state_invalid`, and differ in the log alone.
package enum StateFault: String, Error, Sendable, CaseIterable {
    case missing = "state_missing"
    case repeated = "state_repeated"
    case malformed = "state_malformed"
    /// Never begun, finished already, or forgotten.
    case unknown = "state_unknown"
    case expired = "state_expired"
    case otherProvider = "state_of_other_provider"
    case otherBrowser = "state_of_other_browser"
    case secretRotated = "state_before_rotation"
}
