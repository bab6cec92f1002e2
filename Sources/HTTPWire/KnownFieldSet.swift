/// A set of known fields, one bit each.
public struct KnownFieldSet: Sendable, Equatable {
    @usableFromInline var bits: UInt64 = 0

    /// The empty set.
    public init() {}

    /// Whether `field` is in the set.
    @inlinable
    public func contains(_ field: KnownField) -> Bool { (bits &>> UInt64(field.rawValue)) & 1 == 1 }

    @inline(__always)
    mutating func insert(_ field: KnownField) { bits |= 1 &<< UInt64(field.rawValue) }
}
