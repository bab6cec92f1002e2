/// All attacks with a token.
public enum AttackCatalogue {
    /// All attacks in the order of their rows.
    public static let all: [Attack] =
        NoneAttacks.all + StrippingAttacks.all + ConfusionAttacks.all + AlgorithmAttacks.all + EmbeddedKeyAttacks.all
        + RemoteKeyAttacks.all + KeyIDAttacks.all + ECDSAAttacks.all + EdDSAAttacks.all + RSAAttacks.all
        + Base64URLAttacks.all + SegmentAttacks.all + DuplicateAttacks.all + JSONAttacks.all + TextAttacks.all
        + CriticalAttacks.all + TypeAttacks.all + FormatAttacks.all + ExpiryAttacks.all + DateAttacks.all
        + AudienceAttacks.all + IssuerAttacks.all + ClaimAttacks.all + SizeAttacks.all + CarrierAttacks.all
        + SwappedAttacks.all

    /// The attacks of these categories; all if none is given.
    public static func attacks(in categories: [AttackCategory]) -> [Attack] {
        categories.isEmpty ? all : all.filter { categories.contains($0.category) }
    }
}
