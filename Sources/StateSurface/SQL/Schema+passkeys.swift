extension Schema {
    /// The passkeys of accounts.
    static let passkeys = [
        """
        CREATE TABLE passkeys (credential_id BLOB NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL,
        public_key BLOB NOT NULL, algorithm INTEGER NOT NULL, sign_count INTEGER NOT NULL,
        backup_eligible INTEGER NOT NULL, backed_up INTEGER NOT NULL, aaguid BLOB NOT NULL,
        transports TEXT NOT NULL, created_at INTEGER NOT NULL, last_used_at INTEGER)
        """,
        "CREATE INDEX passkeys_by_user ON passkeys (user_id)",
    ]
}
