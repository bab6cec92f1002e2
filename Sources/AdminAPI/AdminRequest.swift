import Answers

/// A request to the operator's API, as its listener has read it. Nothing in it has been judged.
package struct AdminRequest: Sendable {
    /// The id of the request.
    package var id: String
    /// The method; a HEAD is given as its GET.
    package var method: String
    /// The method as sent, if it is a registered one. For the audit log.
    package var shownMethod: String?
    /// The path as sent; empty where the head could not be read.
    package var path: String
    /// The query without its question mark.
    package var query: String?
    /// How the `Authorization` field was used.
    package var authorization = PresentedAuthorization.absent
    /// Why the fields that carry credentials can't be read, as where one came more than once; nil where they can.
    package var credentialsFault: Problem?
    /// The value of `Origin`.
    package var origin: String?
    /// The value of `Sec-Fetch-Site`.
    package var fetchSite: String?
    /// The value of `Host`.
    package var host: String?
    /// The value of `Accept`.
    package var accept: String?
    /// Who is at the other end of the connection.
    package var peer: AdminPeer
    /// `Content-Type`, lower-cased, without parameters; nil where it is missing or came more than once.
    package var contentType: String?
    /// The body.
    package var body: [UInt8] = []

    package init(id: String, method: String, path: String, query: String? = nil, peer: AdminPeer) {
        self.id = id
        self.method = method
        self.path = path
        self.query = query
        self.peer = peer
    }
}

/// Who is at the other end of a connection to the admin listener.
package enum AdminPeer: Sendable, Equatable {
    /// A client of the network, with its address.
    case network(String)
    /// A process of this machine on a Unix socket, with the number of its user, as the kernel tells it (SO_PEERCRED).
    case process(user: UInt32)
    /// A Unix socket whose peer the kernel does not tell.
    case unknown

    /// How the audit log names it.
    package var text: String {
        switch self {
        case .network(let address): address
        case .process, .unknown: "unix"
        }
    }
}

/// Who may use the operator's API, once that is known.
package enum AdminCaller: Sendable, Equatable {
    /// The subject of an access token.
    case subject(String)
    /// The user of a process on this machine.
    case user(UInt32)
}
