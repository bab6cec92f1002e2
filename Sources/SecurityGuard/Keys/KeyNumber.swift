import Synchronization

/// Stands for a signing key where very many things remember which key they rest on: four bytes instead of a name.
///
/// Numbers are given out as keys are seen, for the life of the process. There are few keys, so none is forgotten.
package struct KeyNumber: Hashable, Sendable {
    private static let known = Mutex<[String]>([])

    private let value: UInt32

    package init(thumbprint: String) {
        value = Self.known.withLock { known -> UInt32 in
            if let place = known.firstIndex(where: { sameBytes($0, thumbprint) }) { return UInt32(place) }
            known.append(thumbprint)
            return UInt32(known.count - 1)
        }
    }
}
