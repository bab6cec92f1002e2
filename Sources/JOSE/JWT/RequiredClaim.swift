import Encodings

/// A required claim, classified once so that it need not be done for each token.
struct RequiredClaim: Sendable {
    let name: String
    let short: ShortName?
    let isClientID: Bool

    init(_ name: String) {
        self.name = name
        short = ShortName(name)
        isClientID = name.hasSameBytes(as: ClaimName.clientID)
    }
}
