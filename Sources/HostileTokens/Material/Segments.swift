/// The three texts of a compact JWS.
struct Segments: Sendable {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]

    init?(_ token: [UInt8]) {
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        header = Array(parts[0])
        payload = Array(parts[1])
        signature = Array(parts[2])
    }
}
