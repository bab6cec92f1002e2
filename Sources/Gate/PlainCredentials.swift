import Answers
import EdgeConfiguration
import HTTPWire

/// The credentials of the usual request, where they stand in its head: one bearer token, and one `Session-Id` where the
/// route asks for a session. Nothing is copied until it is asked for.
///
/// There is no other carrier in the request, so the checks of carriers and of foreign pages have nothing to refuse. Those
/// of forms are left out: what memory knows as a token or a session has the form of one.
struct PlainCredentials: NamesSession {
    private let head: RequestHead
    private let authorization: ByteRange
    private let session: ByteRange?

    /// nil for a request whose carriers have to be read one by one, with ``Carriers``.
    ///
    /// - Parameter offers: the subprotocols of a handshake; none for any other request.
    init?(_ request: GateRequest, _ offers: Subprotocols, _ requirement: RouteConfiguration.Requirement) {
        let head = request.head
        guard request.query == nil, !offers.carriesCredentials, !head.present.contains(.sessionSecret),
            let authorization = head.only(.authorization)?.value
        else { return nil }
        switch requirement {
        case .none, .session: return nil
        case .token:
            guard !head.present.contains(.sessionID) else { return nil }
            session = nil
        case .tokenAndSession:
            guard let field = head.only(.sessionID) else { return nil }
            session = field.value
        }
        guard !Self.mayCarryOwnCookie(head) else { return nil }
        self.head = head
        self.authorization = authorization
    }

    /// Calls `body` with the token; nil where `Authorization` has none, or one that is too long.
    func withToken<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        head.withBytes(authorization) { PresentedAuthorization.bearerToken(in: $0).flatMap(body) }
    }

    func namedSession() throws(Problem) -> NamedSession {
        guard let session else { throw Problem(.credentialsMissing, reason: "no_session") }
        return .id(head.string(session))
    }

    /// Whether one of the gateway's cookies may be among those of the request.
    private static func mayCarryOwnCookie(_ head: RequestHead) -> Bool {
        guard head.present.contains(.cookie) else { return false }
        return head.fields.contains { field in
            field.id == .cookie && head.withBytes(field.value) { CookieHeader.mayHoldGatewayCookie($0) }
        }
    }
}
