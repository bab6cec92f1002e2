extension Schema {
    /// Accounts by their e-mail within a tenant, for `link_verified_email`.
    static let links = [
        "CREATE INDEX accounts_by_written_email ON accounts (tenant_id, LOWER(email)) WHERE email <> ''"
    ]
}
