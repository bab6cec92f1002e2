/// The tables for both databases, and the migrations from one version to the next.
enum Schema {
    /// Each entry migrates the store by one version. Released entries must not be edited; new ones are appended.
    private static let steps: [[String]] = [
        first, tickets, judgedAccounts, fleet, people, links, passkeys, deliveries, agents, accountScopes,
        deliveryRooms,
    ]

    /// The version of the schema.
    static var version: Int { steps.count }

    /// The statements of the steps after a version that correct rows, for rows that were written before these steps.
    static func corrections(after version: Int) -> [String] {
        steps.dropFirst(max(0, version)).flatMap { $0 }.filter { $0.hasPrefix("UPDATE ") }
    }

    /// Migrates the store to the current schema. To be called in a transaction that excludes other migrations.
    static func migrate(_ transaction: any SQLTransaction) throws {
        _ = try transaction.execute(
            transaction.dialect.schema("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)"), [])
        var row = try transaction.row("SELECT COALESCE(MAX(version), 0) FROM schema_version", [])
        let current = try row?.integer() ?? 0
        guard current <= steps.count else {
            throw StateSurfaceError(
                .misconfigured,
                "the store has schema version \(current), written by a newer gatehouse; this one knows \(steps.count)")
        }
        for (index, statements) in steps.enumerated() where index >= current {
            for statement in statements {
                _ = try transaction.execute(transaction.dialect.schema(statement), [])
            }
            _ = try transaction.execute(
                "INSERT INTO schema_version (version) VALUES (?1)", [.integer(Int64(index + 1))])
        }
    }

    private static let first = sessions + accounts + families + executions + shared

    private static let tickets = [
        """
        CREATE TABLE tickets (hash BLOB NOT NULL PRIMARY KEY, session_id TEXT NOT NULL, epoch INTEGER NOT NULL,
        facts BLOB NOT NULL, origin TEXT, expires_at INTEGER NOT NULL)
        """,
        "CREATE INDEX tickets_by_session ON tickets (session_id)",
        "CREATE INDEX tickets_by_end ON tickets (expires_at)",
        "ALTER TABLE families ADD COLUMN token_expires_at INTEGER",
    ]

    /// Credential epochs of accounts; counters; the limit on sessions per user.
    private static let judgedAccounts = [
        // Older accounts were created by the operator, unless registration was enabled.
        "ALTER TABLE accounts ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE accounts ADD COLUMN credential_epoch INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE secrets (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL)",
        """
        CREATE INDEX live_sessions_by_user ON sessions (user_id)
        WHERE user_id IS NOT NULL AND state IN ('anonymous', 'authenticated')
        """,
        "CREATE INDEX families_by_client ON families (client_id) WHERE client_id <> 'gatehouse'",
        // Of concurrent registrations of an e-mail, each with its own tenant, one succeeds.
        """
        CREATE UNIQUE INDEX accounts_registered ON accounts (email_key)
        WHERE email_verified = 0 AND email_key <> '' AND substr(tenant_id, 1, 4) = 'ten_'
        """,
    ]

    /// For several nodes: the reach of tokens, the node whose clock a ticket expires by, the version of an account in
    /// revocations; and the size of a session's outcomes.
    private static let fleet = [
        """
        CREATE TABLE token_reach (lifetime INTEGER NOT NULL, clock_skew INTEGER NOT NULL,
        good_until INTEGER NOT NULL, PRIMARY KEY (lifetime, clock_skew))
        """,
        "ALTER TABLE revocations ADD COLUMN account_version INTEGER",
        "ALTER TABLE tickets ADD COLUMN node_id TEXT",
        "ALTER TABLE streams ADD COLUMN outcome_bytes INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE streams SET outcome_bytes = (SELECT COALESCE(SUM(LENGTH(executions.outcome)), 0) FROM executions
        WHERE executions.session_id = streams.session_id)
        """,
        "CREATE INDEX executions_kept ON executions (session_id, seq) WHERE outcome IS NOT NULL",
    ]

    /// Who people are and how they signed in; records that are taken once.
    private static let people = [
        "ALTER TABLE accounts ADD COLUMN name TEXT",
        "ALTER TABLE accounts ADD COLUMN member_of TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE families ADD COLUMN authenticated_at INTEGER",
        "ALTER TABLE families ADD COLUMN acr TEXT",
        "ALTER TABLE families ADD COLUMN provider TEXT",
        "ALTER TABLE families ADD COLUMN provider_session TEXT",
        "ALTER TABLE families ADD COLUMN resource TEXT",
        """
        CREATE INDEX families_by_provider_session ON families (provider, provider_session)
        WHERE provider_session IS NOT NULL
        """,
        """
        CREATE TABLE single_use (kind TEXT NOT NULL, hash BLOB NOT NULL, owner TEXT NOT NULL, payload BLOB NOT NULL,
        expires_at INTEGER NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (kind, hash))
        """,
        "CREATE INDEX single_use_by_owner ON single_use (owner, kind) WHERE owner <> ''",
        "CREATE INDEX single_use_by_end ON single_use (expires_at)",
    ]

    private static let sessions = [
        """
        CREATE TABLE sessions (id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, tenant_id TEXT, user_id TEXT,
        created_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, idle_timeout INTEGER NOT NULL,
        absolute_expires_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, secret_hash BLOB NOT NULL,
        previous_secret_hash BLOB, previous_secret_until INTEGER, epoch INTEGER NOT NULL, family_id TEXT,
        metadata TEXT NOT NULL, ended_at INTEGER, version INTEGER NOT NULL)
        """,
        "CREATE INDEX sessions_by_secret ON sessions (secret_hash)",
        """
        CREATE INDEX sessions_by_previous_secret ON sessions (previous_secret_hash)
        WHERE previous_secret_hash IS NOT NULL
        """,
        "CREATE INDEX sessions_by_owner ON sessions (user_id, tenant_id, created_at) WHERE user_id IS NOT NULL",
        "CREATE INDEX sessions_by_family ON sessions (family_id) WHERE family_id IS NOT NULL",
        "CREATE INDEX sessions_by_end ON sessions (expires_at) WHERE state IN ('anonymous', 'authenticated')",
        """
        CREATE INDEX tombstones_by_end ON sessions (absolute_expires_at)
        WHERE state NOT IN ('anonymous', 'authenticated')
        """,
    ]

    private static let accounts = [
        """
        CREATE TABLE accounts (user_id TEXT NOT NULL PRIMARY KEY, tenant_id TEXT NOT NULL, email TEXT NOT NULL,
        email_key TEXT NOT NULL, password_hash TEXT, scope TEXT NOT NULL, disabled INTEGER NOT NULL,
        created_at INTEGER NOT NULL, version INTEGER NOT NULL)
        """,
        // Accounts without an e-mail, which external identities may have, are not unique by it.
        "CREATE UNIQUE INDEX accounts_by_email ON accounts (email_key, tenant_id) WHERE email_key <> ''",
        """
        CREATE TABLE identities (issuer TEXT NOT NULL, subject TEXT NOT NULL, tenant_id TEXT NOT NULL,
        user_id TEXT NOT NULL, PRIMARY KEY (issuer, subject, tenant_id))
        """,
        """
        CREATE TABLE clients (client_id TEXT NOT NULL PRIMARY KEY, tenant_id TEXT NOT NULL, name TEXT NOT NULL,
        secret_hash BLOB NOT NULL, scope TEXT NOT NULL, disabled INTEGER NOT NULL, created_at INTEGER NOT NULL)
        """,
    ]

    private static let families = [
        """
        CREATE TABLE families (id TEXT NOT NULL PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
        client_id TEXT NOT NULL, scope TEXT NOT NULL, binding TEXT, is_live INTEGER NOT NULL,
        created_at INTEGER NOT NULL, absolute_expires_at INTEGER NOT NULL, current_hash BLOB NOT NULL,
        previous_hash BLOB, successor_salt BLOB, rotated_at INTEGER, counter INTEGER NOT NULL)
        """,
        "CREATE INDEX families_by_user ON families (user_id)",
        "CREATE INDEX families_by_end ON families (absolute_expires_at)",
        """
        CREATE TABLE refresh_tokens (hash BLOB NOT NULL PRIMARY KEY, family_id TEXT NOT NULL,
        position INTEGER NOT NULL)
        """,
        "CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id)",
        """
        CREATE TABLE revocations (kind TEXT NOT NULL, id TEXT NOT NULL, issued_until INTEGER NOT NULL,
        expires_at INTEGER NOT NULL, PRIMARY KEY (kind, id))
        """,
        "CREATE INDEX revocations_by_end ON revocations (expires_at)",
    ]

    private static let executions = [
        """
        CREATE TABLE executions (session_id TEXT NOT NULL, intent_id TEXT NOT NULL, intent TEXT NOT NULL,
        fingerprint BLOB NOT NULL, node_id TEXT NOT NULL, epoch INTEGER NOT NULL, created_at INTEGER NOT NULL,
        seq INTEGER, outcome TEXT, PRIMARY KEY (session_id, intent_id))
        """,
        "CREATE INDEX executions_open ON executions (node_id) WHERE seq IS NULL",
        """
        CREATE TABLE events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, payload TEXT NOT NULL,
        PRIMARY KEY (session_id, seq))
        """,
        "CREATE TABLE streams (session_id TEXT NOT NULL PRIMARY KEY, last_seq INTEGER NOT NULL)",
        "CREATE TABLE nodes (id TEXT NOT NULL PRIMARY KEY, seen_at INTEGER NOT NULL)",
    ]

    private static let shared = [
        """
        CREATE TABLE artifacts (tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, name TEXT NOT NULL,
        version INTEGER NOT NULL, state TEXT NOT NULL, content TEXT NOT NULL, updated_at INTEGER NOT NULL,
        PRIMARY KEY (tenant_id, user_id, name))
        """,
        "CREATE TABLE signing_keys (thumbprint TEXT NOT NULL PRIMARY KEY, registered_at INTEGER NOT NULL)",
        """
        CREATE TABLE counters (key TEXT NOT NULL, slot INTEGER NOT NULL, amount INTEGER NOT NULL,
        expires_at INTEGER NOT NULL, PRIMARY KEY (key, slot))
        """,
        "CREATE INDEX counters_by_end ON counters (expires_at)",
    ]
}
