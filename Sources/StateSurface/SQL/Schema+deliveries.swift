extension Schema {
    /// Events on their way to receivers, and the node that sends them.
    static let deliveries = [
        """
        CREATE TABLE deliveries (sequence IDENTITY, id TEXT NOT NULL UNIQUE, receiver TEXT NOT NULL,
        lane TEXT NOT NULL, event_id TEXT NOT NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, buried_at INTEGER, verdict TEXT)
        """,
        "CREATE INDEX deliveries_waiting ON deliveries (receiver, sequence) WHERE buried_at IS NULL",
        "CREATE INDEX deliveries_buried ON deliveries (buried_at) WHERE buried_at IS NOT NULL",
        """
        CREATE TABLE delivery_lease (name TEXT NOT NULL PRIMARY KEY, node_id TEXT NOT NULL,
        expires_at INTEGER NOT NULL)
        """,
    ]

    /// How much room receivers have: see ``DeliveryRoom``.
    static let deliveryRooms = [
        """
        CREATE TABLE delivery_rooms (receiver TEXT NOT NULL PRIMARY KEY, open_until INTEGER NOT NULL,
        is_full INTEGER NOT NULL)
        """
    ]
}
