import Libcrypto

/// What every check is given.
struct Evidence: Sendable {
    let contract: ExecutionContract
    let intent: SessionIntent
    let now: Int64
}

/// One check of a contract. It tests one property and refuses with one code.
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

    /// The contract was made for this intent: id, kind and the digest of all fields are equal.
    static let fieldsMatch = Primitive(name: "fields match") { evidence in
        let contract = evidence.contract
        let intent = evidence.intent
        guard contract.intentID.utf8.elementsEqual(intent.id.utf8),
            contract.kind.utf8.elementsEqual(intent.kind.rawValue.utf8),
            ConstantTime.equal(contract.fieldsDigest, intent.fieldsDigest)
        else { return Denial(.contractMismatch) }
        return nil
    }

    /// The contract is not used before it was issued, after it expired, or later than ``ExecutionContract/lifetime``
    /// after it was issued.
    static let notExpired = Primitive(name: "not expired") { evidence in
        let contract = evidence.contract
        let (age, overflow) = evidence.now.subtractingReportingOverflow(contract.issuedAt)
        guard !overflow, age >= 0, age < ExecutionContract.lifetime, evidence.now < contract.expiresAt else {
            return Denial(.contractExpired)
        }
        return nil
    }

    /// This process issued the contract. The check comes before `singleUse`, so that a forged copy cannot use up the
    /// real contract's nonce.
    static func issuedHere(key: HMACKey) -> Primitive {
        Primitive(name: "issuer's MAC") { evidence in
            ConstantTime.equal(evidence.contract.computeMAC(key: key), evidence.contract.mac)
                ? nil : Denial(.contractForged)
        }
    }

    /// The contract has not been used before.
    static func singleUse(_ outstanding: OutstandingContracts) -> Primitive {
        Primitive(name: "single use") { evidence in
            outstanding.use(evidence.contract.nonce) ? nil : Denial(.contractReplayed)
        }
    }

    /// The caller is within the rate limit. The last check, because it takes from the allowance.
    static func withinLimits(_ take: @escaping @Sendable (SessionIntent) -> RateDecision) -> Primitive {
        Primitive(name: "rate limits") { evidence in
            guard case .limited(let seconds) = take(evidence.intent) else { return nil }
            return Denial(.rateLimited, retryAfterSeconds: seconds)
        }
    }
}
