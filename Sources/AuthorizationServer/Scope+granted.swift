import OAuth

extension Scope {
    /// Those of the resource's scopes that were asked for, or all of them if none were, as far as the client's list and
    /// the account's rights allow. In the resource's order.
    ///
    /// - Parameters:
    ///   - asked: what was asked for; unknown ones are dropped.
    ///   - client: the client's list; empty if it has none.
    ///   - mayHave: whether the account may have a scope.
    package static func granted(
        asked: [String], resource: [String], client: [String], mayHave: (String) -> Bool
    ) -> [String] {
        resource.filter { scope in
            (asked.isEmpty || contains(asked, scope)) && (client.isEmpty || contains(client, scope)) && mayHave(scope)
        }
    }
}
