/// Every attack there is.
public enum AttackCatalogue {
    /// In the order of their ids' rows.
    public static let all: [Attack] =
        NoneAttacks.all + StrippingAttacks.all + ConfusionAttacks.all + AlgorithmAttacks.all + EmbeddedKeyAttacks.all
        + RemoteKeyAttacks.all + KeyIDAttacks.all + ECDSAAttacks.all + EdDSAAttacks.all + RSAAttacks.all
        + Base64URLAttacks.all + SegmentAttacks.all + DuplicateAttacks.all + JSONAttacks.all + TextAttacks.all
        + CriticalAttacks.all + TypeAttacks.all + FormatAttacks.all + ExpiryAttacks.all + DateAttacks.all
        + AudienceAttacks.all + IssuerAttacks.all + ClaimAttacks.all + SizeAttacks.all + CarrierAttacks.all
        + SwappedAttacks.all

    /// Those of the categories; all for none.
    public static func attacks(in categories: [AttackCategory]) -> [Attack] {
        categories.isEmpty ? all : all.filter { categories.contains($0.category) }
    }
}
