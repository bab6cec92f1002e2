/// What can be learnt of a store without changing it: `StateSurfaceFactory.inspect(url:clock:)`.
package struct StoreInspection: Sendable, Equatable {
    /// The version of the tables that this program makes.
    package static let knownVersion = Schema.version

    /// The file of an embedded store; nil for a server.
    package var file: String?
    /// The version of its tables; nil if there are none yet.
    package var version: Int?
    /// Whether this user may write to it.
    package var isWritable: Bool
    /// How far the clock of the server is ahead of that of this machine, in ms, negative where it is behind; nil for an
    /// embedded store, which has none.
    package var clockOffset: Milliseconds?
    /// When the last session was created, in Unix milliseconds, by the clock of the gateway that created it; nil where
    /// it is not known.
    package var newestSession: Milliseconds?
    /// Settings of the server, by name, as they are without those that a gateway makes for its own connections.
    package var settings: [String: String] = [:]
    /// The connections that the server has at the moment; nil for an embedded store.
    package var connections: Int64?

    /// What was learnt.
    package init(file: String? = nil, version: Int?, isWritable: Bool) {
        self.file = file
        self.version = version
        self.isWritable = isWritable
    }
}
