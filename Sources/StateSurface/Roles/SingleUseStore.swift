/// The role for records that are taken once, by any node.
package protocol SingleUseStore: Sendable {
    /// Stores a record until it is taken or expires. Of the owner's records of its kind that are valid at `now`, the
    /// oldest beyond `limit` are removed; a record with an empty owner is not counted.
    /// - Throws: `.duplicate` if there is a record of this kind and hash, also an expired one.
    func put(singleUse record: SingleUseRecord, limit: Int, now: Milliseconds) async throws
    /// The record, without taking it; nil if there is none that is valid at `now`.
    func singleUse(kind: String, hash: [UInt8], now: Milliseconds) async throws -> SingleUseRecord?
    /// Removes a record and returns it; nil if it has been taken or expired. Of several concurrent calls, one gets it.
    func take(singleUse kind: String, hash: [UInt8], now: Milliseconds) async throws -> SingleUseRecord?
    /// Stores a record, unless there is one of its kind and hash whose payload is not less, byte by byte. It expires
    /// when the later of the two does.
    ///
    /// It comes one after the other with every transaction that looks for the record
    /// (``StoreTransaction/singleUse(kind:hash:now:)``): either that one finds what is raised here, or what it wrote is
    /// there for all who read after this has returned. So who raises a record and then looks for what should not have been
    /// written misses nothing.
    func raise(singleUse record: SingleUseRecord) async throws
    /// Remembers that something happened, until `expiresAt`.
    /// - Returns: whether this is the first time. Of several concurrent calls, one is.
    func first(kind: String, hash: [UInt8], expiresAt: Milliseconds) async throws -> Bool
    /// The time of the store itself, which is the same clock for all nodes: that of the database's server, or of the one
    /// machine that an embedded store is on.
    ///
    /// It tells what came first of two things that different nodes have seen. It says nothing about times of a node's own
    /// clock.
    func storeTime() async throws -> Milliseconds
}
