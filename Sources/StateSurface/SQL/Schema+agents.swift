extension Schema {
    /// Clients without a secret, remembered consents, personal access tokens, protocol sessions.
    static let agents = [
        "ALTER TABLE clients ADD COLUMN redirect_uris TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE clients ADD COLUMN is_public INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE clients ADD COLUMN origin TEXT NOT NULL DEFAULT 'operator'",
        "ALTER TABLE clients ADD COLUMN expires_at INTEGER",
        "CREATE INDEX clients_by_end ON clients (expires_at) WHERE expires_at IS NOT NULL",
        "CREATE INDEX grants_by_session ON families (binding) WHERE resource IS NOT NULL",
        """
        CREATE TABLE consents (user_id TEXT NOT NULL, client_id TEXT NOT NULL, resource TEXT NOT NULL,
        scope TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (user_id, client_id, resource))
        """,
        """
        CREATE TABLE personal_tokens (hash BLOB NOT NULL PRIMARY KEY, id TEXT NOT NULL, user_id TEXT NOT NULL,
        family_id TEXT NOT NULL, name TEXT NOT NULL, expires_at INTEGER NOT NULL)
        """,
        "CREATE INDEX personal_tokens_by_user ON personal_tokens (user_id)",
        "CREATE INDEX personal_tokens_by_end ON personal_tokens (expires_at)",
        """
        CREATE TABLE protocol_sessions (hash BLOB NOT NULL PRIMARY KEY, tenant_id TEXT NOT NULL,
        user_id TEXT NOT NULL, client_id TEXT NOT NULL, family_id TEXT, upstream TEXT NOT NULL,
        last_used_at INTEGER NOT NULL)
        """,
        "CREATE INDEX protocol_sessions_by_family ON protocol_sessions (family_id) WHERE family_id IS NOT NULL",
        "CREATE INDEX protocol_sessions_by_use ON protocol_sessions (last_used_at)",
    ]

    /// Every scope that an account has had. A scope in this table is granted only to accounts that have it, also after
    /// the last account has lost it.
    static let accountScopes = ["CREATE TABLE account_scopes (scope TEXT NOT NULL PRIMARY KEY)"]
}
