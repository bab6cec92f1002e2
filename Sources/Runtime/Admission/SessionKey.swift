import Encodings
import StateSurface

/// A session id to look up.
struct SessionKey: Sendable {
    let name: PackedName
    let hash: UInt64
    /// The whole id if it does not fit in the name; otherwise empty.
    private let text: String

    init(_ id: String, seed: NameSeed) {
        let name = PackedName(id)
        self.name = name
        self.hash = name.hash(seed)
        self.text = name.isWhole ? "" : id
    }

    /// Whether a non-empty slot has this session.
    func isKey(of slot: SessionSlot) -> Bool {
        guard slot.id.words == name.words else { return false }
        guard !name.isWhole else { return true }
        guard let facts = slot.facts?.takeUnretainedValue() else { return false }
        return facts.id.hasSameBytes(as: text)
    }
}
