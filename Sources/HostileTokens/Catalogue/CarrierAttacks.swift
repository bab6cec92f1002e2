/// J28: the valid token in a carrier that is not allowed, or in several.
enum CarrierAttacks {
    /// RFC 6750 section 2 knows three carriers and forbids to use two at once; a token in a URL is logged (section
    /// 5.3). A target that picks one of several lets a proxy before it judge another one than it uses.
    static let all: [Attack] = [
        attack("two-fields", "two Authorization fields with one token", .carrierRefused) { token in
            .authorization(["Bearer \(token)", "Bearer \(token)"])
        },
        attack("two-fields-other", "two Authorization fields, the other one Basic", .carrierRefused) { token in
            .authorization(["Basic eDp5", "Bearer \(token)"])
        },
        attack("field-and-query", "the token in field and query", .carrierRefused) { token in
            .authorization([Array("Bearer \(token)".utf8)], query: Array(token.utf8))
        },
        attack("query", "the token in the query alone", .credentialRefused) { token in
            .authorization([], query: Array(token.utf8))
        },
        attack("list", "two credentials in one field", .credentialRefused) { token in
            .authorization(["Bearer \(token), Bearer \(token)"])
        },
        attack("bearer-bearer", "Bearer twice", .credentialRefused) { .authorization(["Bearer Bearer \($0)"]) },
        attack("basic", "the scheme Basic", .credentialRefused) { .authorization(["Basic \($0)"]) },
        attack("token-scheme", "the scheme Token", .credentialRefused) { .authorization(["Token \($0)"]) },
        attack("scheme-prefix", "the scheme Bearerx", .credentialRefused) { .authorization(["Bearerx \($0)"]) },
        attack("no-scheme", "no scheme", .credentialRefused) { .authorization([$0]) },
        attack("no-space", "no space after the scheme", .credentialRefused) { .authorization(["Bearer\($0)"]) },
        attack("tab", "a tab after the scheme", .credentialRefused) { .authorization(["Bearer\t\($0)"]) },
        attack("comma", "a comma after the token", .credentialRefused) { .authorization(["Bearer \($0),"]) },
        attack("parameter", "a parameter after the token", .credentialRefused) {
            .authorization(["Bearer \($0);realm=x"])
        },
        attack("quoted", "the token in quotes", .credentialRefused) { .authorization(["Bearer \"\($0)\""]) },
        attack("lowercase", "the scheme in small letters", .accepted) { .authorization(["bearer \($0)"]) },
    ]

    /// The valid token, sent in another way. It applies to targets that take it in `Authorization`.
    ///
    /// - Parameter payload: makes the values of `Authorization`, and the query, from the valid token.
    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation, _ payload: @escaping @Sendable (String) -> Payload
    ) -> Attack {
        Attack(
            id: "J28-carrier-\(name)", title: title, reference: "RFC 6750 §2, §3.1, RFC 9110 §11.1",
            category: .carrier, expectation: expectation
        ) { payload(String(decoding: $0.goodToken, as: UTF8.self)) }
    }
}
