import Libcrypto

/// Traffic Cop's signed permission to carry out one intent, once, within ``lifetime``.
///
/// It carries an HMAC under a key that is made when the process starts and never leaves it. A contract made elsewhere,
/// or before a restart, is therefore refused as forged.
package struct ExecutionContract: Sendable, Equatable {
    /// How long a contract is valid, in milliseconds.
    package static let lifetime: Int64 = 30_000

    /// The id of the intent it was made for.
    package var intentID: String
    /// The intent's kind as text, because a contract that was not made here may name a kind that does not exist.
    package var kind: String
    /// The intent's ``SessionIntent/fieldsDigest``.
    package var fieldsDigest: [UInt8]
    /// When it was made, in Unix milliseconds.
    package var issuedAt: Int64
    /// When it stops being valid, in Unix milliseconds.
    package var expiresAt: Int64
    /// 16 random bytes that make the contract usable only once.
    package var nonce: [UInt8]
    /// HMAC-SHA-256 over all other fields.
    package var mac: [UInt8]

    /// A contract with the fields given; without `mac` it is refused until ``TrafficCop`` has signed it.
    package init(
        intentID: String, kind: String, fieldsDigest: [UInt8], issuedAt: Int64, expiresAt: Int64, nonce: [UInt8],
        mac: [UInt8] = []
    ) {
        self.intentID = intentID
        self.kind = kind
        self.fieldsDigest = fieldsDigest
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.nonce = nonce
        self.mac = mac
    }

    /// The bytes that the MAC covers: a label that names their purpose, then every field but the MAC.
    private var signedBytes: [UInt8] {
        var fields = FieldDigest()
        fields.append("gatehouse execution contract 1")
        fields.append(intentID)
        fields.append(kind)
        fields.append(fieldsDigest)
        fields.append(issuedAt)
        fields.append(expiresAt)
        fields.append(nonce)
        return fields.bytes
    }

    func computeMAC(key: HMACKey) -> [UInt8] {
        key.tag(of: signedBytes)
    }
}

/// Proof that an intent and its contract passed every check. Its initialiser is internal, so only Traffic Cop can make
/// one.
package struct ValidatedIntent: Sendable {
    /// The intent that may be carried out.
    package let intent: SessionIntent

    init(intent: SessionIntent) {
        self.intent = intent
    }
}
