import Libcrypto

/// What every primitive is given.
struct Evidence: Sendable {
    let contract: ExecutionContract
    let intent: SessionIntent
    let now: Int64
}

/// One check of a contract. It knows one thing, and says no with one code.
struct Primitive: Sendable {
    let name: String
    let check: @Sendable (Evidence) -> Denial?
}

extension Primitive {
    /// The contract is for a kind of intent that exists, and the intent has the fields of its kind.
    static let typeKnown = Primitive(name: "type known") { evidence in
        guard SessionIntent.Kind(rawValue: evidence.contract.kind) != nil, evidence.intent.isWellFormed else {
            return Denial(.intentUnknown)
        }
        return nil
    }

    /// The contract is for this very intent: its id, its kind and every field of it.
    static let fieldsMatch = Primitive(name: "fields match") { evidence in
        let contract = evidence.contract
        let intent = evidence.intent
        guard contract.intentID.utf8.elementsEqual(intent.id.utf8),
            contract.kind.utf8.elementsEqual(intent.kind.rawValue.utf8),
            ConstantTime.equal(contract.fieldsDigest, intent.fieldsDigest)
        else { return Denial(.contractMismatch) }
        return nil
    }

    /// Not before it was issued, not after it expired, and never longer than contracts live.
    static let notExpired = Primitive(name: "not expired") { evidence in
        let contract = evidence.contract
        let (age, overflow) = evidence.now.subtractingReportingOverflow(contract.issuedAt)
        guard !overflow, age >= 0, age < ExecutionContract.lifetime, evidence.now < contract.expiresAt else {
            return Denial(.contractExpired)
        }
        return nil
    }

    /// Traffic Cop itself issued it. Comes before single use: a forged copy must not use up the real one.
    static func issuedHere(key: HMACKey) -> Primitive {
        Primitive(name: "issuer's MAC") { evidence in
            ConstantTime.equal(evidence.contract.computeMAC(key: key), evidence.contract.mac)
                ? nil : Denial(.contractForged)
        }
    }

    /// It has not been carried out before.
    static func singleUse(_ outstanding: OutstandingContracts) -> Primitive {
        Primitive(name: "single use") { evidence in
            outstanding.use(evidence.contract.nonce) ? nil : Denial(.contractReplayed)
        }
    }

    /// The caller has not had too many of these.
    static func withinLimits(_ take: @escaping @Sendable (SessionIntent) -> RateDecision) -> Primitive {
        Primitive(name: "rate limits") { evidence in
            guard case .limited(let seconds) = take(evidence.intent) else { return nil }
            return Denial(.rateLimited, retryAfterSeconds: seconds)
        }
    }
}
