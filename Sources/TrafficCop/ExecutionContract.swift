import Libcrypto

/// Traffic Cop's word that one intent may be carried out, once, within a few seconds.
///
/// It is signed with a key that lives and dies with the process, so none from outside or from before a restart counts.
package struct ExecutionContract: Sendable, Equatable {
    /// How long a contract may be carried out, in milliseconds.
    package static let lifetime: Int64 = 30_000

    package var intentID: String
    /// The intent's kind as text: a contract may come from anywhere, so its kind may be unknown.
    package var kind: String
    package var fieldsDigest: [UInt8]
    package var issuedAt: Int64
    package var expiresAt: Int64
    package var nonce: [UInt8]
    package var mac: [UInt8]

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

    /// What the MAC is made over: everything but itself, under a label of its own.
    private var signedBytes: [UInt8] {
        var fields = FieldDigest()
        fields.append("gatehouse execution contract 1")
        fields.append(self.intentID)
        fields.append(self.kind)
        fields.append(self.fieldsDigest)
        fields.append(self.issuedAt)
        fields.append(self.expiresAt)
        fields.append(self.nonce)
        return fields.bytes
    }

    func computeMAC(key: HMACKey) -> [UInt8] {
        key.tag(of: self.signedBytes)
    }
}

/// Proof that an intent and its contract passed every primitive. Only Traffic Cop can make one.
package struct ValidatedIntent: Sendable {
    package let intent: SessionIntent

    init(intent: SessionIntent) {
        self.intent = intent
    }
}
