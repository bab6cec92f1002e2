extension Transport {
    /// The name of the carrier in the profile.
    public var shortName: String {
        switch self {
        case .socketQuery, .query: "query"
        case .socketHeaders, .authorization: "header"
        case .socketProtocol: "subprotocol"
        case .cookie, .socketCookie: "cookie"
        case .body: "body"
        case .introspection: "introspection"
        }
    }
}
