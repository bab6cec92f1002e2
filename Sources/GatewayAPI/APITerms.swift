import Answers

/// What a request has to bring for an endpoint to answer it. Each ``APIRoute`` declares its terms, and ``judge(_:)`` is
/// the one function that holds requests to them, in one order:
///
/// 1. what the path names,
/// 2. whether every credential is there,
/// 3. the access token,
/// 4. the body,
/// 5. the user and tenant that the body names,
/// 6. the store,
/// 7. the session.
///
/// Two kinds of request depart from it. Where the body may carry the credential, it is judged before the credentials
/// (``bodyFirst``). A token of another issuer is identified after the store was asked for, which knows its user
/// (``Credential/foreignToken``).
///
/// The edge has judged before: origin, carriers, the form of what is in header fields, and length and type of the body.
package struct APITerms: Sendable {
    /// What the parameter of the path has to be.
    enum Path: Sendable {
        /// The path has none, or one whose form is not judged here.
        case plain
        /// `{id}` is that of a session, and not shaped like another credential (`credentials_swapped`).
        case session
        /// `{provider}` is the name of an identity provider (`not_found`).
        case provider
    }

    /// Which credential says who calls. Without it the answer is `credentials_missing`.
    enum Credential: Sendable {
        /// Anyone may call. An access token is not looked at.
        case unread
        /// An access token in `Authorization`.
        case token
        /// An access token in `Authorization` or in the body's `access_token`, not in both.
        case tokenOrMember
        /// An access token in `Authorization`, or a session secret. A token that is there must be valid.
        case tokenOrSecret
        /// A token of another issuer in `Authorization`.
        case foreignToken
        /// An access token in `Authorization`, if there is one. It may be expired or revoked.
        case tokenForLogout
        /// A refresh token in the body's `refresh_token`, else in the cookie.
        case refreshToken
    }

    /// Which session the request is about.
    enum Session: Sendable {
        /// None that is judged here.
        case unread
        /// The caller's own live session, whose id is in the path.
        case owned
        /// The caller's own live session, whose id is in `Session-Id`.
        case ownedInField
        /// The session whose id is in the path, opened by its current secret or its owner's token.
        case opened
        /// The live session of the secret.
        case ofSecret
        /// The session whose id is in the path. A secret must be there; the endpoint tries it.
        case tried
    }

    /// A further rule for the body, about how its members go together.
    typealias BodyRule = @Sendable (SecurityBody, APICall) throws(Problem) -> Void

    /// What the path names.
    let path: Path
    /// Who may call.
    let credential: Credential
    /// The members that the body may have; nil where it is not read, or is no JSON object of known members.
    let body: [BodyMember]?
    /// Judged after the members of the body, one by one.
    let rule: BodyRule?
    /// Whether the body is judged before the credentials, since it may carry one.
    let bodyFirst: Bool
    /// Whether `user_id` and `tenant_id` of the body are compared with the token's (`identity_mismatch`).
    let identity: Bool
    /// Whether the endpoint answers only while the store's feed is alive (`store_unavailable`).
    let store: Bool
    /// The session.
    let session: Session

    /// Terms that ask for nothing but what is named.
    init(
        path: Path = .plain, credential: Credential = .unread, body: [BodyMember]? = nil, rule: BodyRule? = nil,
        bodyFirst: Bool = false, identity: Bool = false, store: Bool = false, session: Session = .unread
    ) {
        self.path = path
        self.credential = credential
        self.body = body
        self.rule = rule
        self.bodyFirst = bodyFirst
        self.identity = identity
        self.store = store
        self.session = session
    }

    /// The terms of public documents: none.
    static let open = APITerms()

    /// The terms of the endpoints of OAuth, which judge a request themselves: the form says who calls as well as what is
    /// asked for, and RFC 6749 says which fault is told.
    static let ofOAuth = APITerms()
}
