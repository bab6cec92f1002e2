import Answers
import EdgeConfiguration
import HTTPWire
import NIOCore

/// The cross-site rules for one request: what it may do, and which fields its answer carries.
package struct CORS {
    private let policy: OriginPolicy
    private let origin: [UInt8]?
    private let originCount: Int
    private let fetchSite: [UInt8]?
    private let isUnsafe: Bool
    private let isPublic: Bool
    /// `Access-Control-Request-Headers`, if it is a list of field names.
    private let askedHeaders: String?
    private let isPreflight: Bool

    /// - Parameters:
    ///   - isPublic: whether any site may read the answer (keys and metadata).
    ///   - method: the method to judge by, where the request that is judged is not this one; nil for the head's own.
    package init(_ policy: OriginPolicy, _ head: RequestHead, isPublic: Bool, method: [UInt8]? = nil) {
        self.policy = policy
        self.isPublic = isPublic
        self.originCount = head.count(.origin)
        self.origin = head.first(.origin).map { field in head.withBytes(field.value) { Array($0) } }
        self.fetchSite = head.first(.secFetchSite).map { field in head.withBytes(field.value) { Array($0) } }
        self.askedHeaders = head.only(.accessControlRequestHeaders).flatMap { field in
            let isPlain = head.withBytes(field.value) { $0.allSatisfy(Self.isListByte) }
            return isPlain && !field.value.isEmpty ? head.string(field.value) : nil
        }
        if let method {
            isUnsafe = !["GET", "HEAD", "OPTIONS"].contains { method.elementsEqual($0.utf8) }
        } else {
            switch head.knownMethod {
            case .get, .head, .options: isUnsafe = false
            default: isUnsafe = true
            }
        }
        self.isPreflight = Self.isPreflight(head)
    }

    /// Whether the head is that of a preflight: an `OPTIONS` request that asks for permission (Fetch standard,
    /// "CORS-preflight request").
    package static func isPreflight(_ head: RequestHead) -> Bool {
        head.knownMethod == .options && head.present.contains(.origin)
            && head.present.contains(.accessControlRequestMethod)
    }

    /// The admission for a preflight that an upstream answers itself; nil for any other request.
    package var preflight: Admission? {
        isPreflight ? Admission(.open(OpenRoute(.preflight))) : nil
    }

    /// Refuses an unsafe request that a page of a foreign origin has sent.
    ///
    /// - Throws: `origin_refused`.
    package func requireAllowed() throws(Problem) {
        guard isUnsafe else { return }
        try policy.requireAllowed(origin: origin, originCount: originCount, fetchSite: fetchSite)
    }

    /// Refuses an unsafe request of a foreign page whose only credential is the cookie, which a browser attaches by
    /// itself.
    ///
    /// - Throws: `origin_refused`.
    func requireAllowed(
        _ credentials: PresentedCredentials, for requirement: RouteConfiguration.Requirement
    ) throws(Problem) {
        guard requirement == .session || requirement == .tokenAndSession, credentials.sessionCookie != nil,
            credentials.sessionID == nil, credentials.sessionSecret == nil
        else { return }
        try requireAllowed()
    }

    /// The fields that let a script of an allowed origin read the answer, refusals included.
    ///
    /// - Returns: nil where the answer has none.
    package func fields(_ form: AnswerFields.Form) -> AnswerFields? {
        guard isPublic || origin != nil else { return nil }
        var fields = AnswerFields(form)
        let isAllowed = originCount == 1 && origin.map { policy.allows($0) } ?? false
        if isPublic {
            fields.add("Access-Control-Allow-Origin", "*")
        } else if isAllowed, let origin {
            fields.add("Access-Control-Allow-Origin", String(decoding: origin, as: UTF8.self))
            fields.add("Access-Control-Allow-Credentials", "true")
        }
        if isPublic || isAllowed { fields.add("Access-Control-Expose-Headers", Self.exposed) }
        if !isPublic { fields.add("Vary", "Origin") }
        return fields
    }

    /// What a preflight is told besides `fields()`.
    package func preflightFields(echoesHeaders: Bool) -> [(name: String, value: String)] {
        let isAllowed = isPublic || origin.map { originCount == 1 && policy.allows($0) } ?? false
        guard isAllowed else { return [] }
        return [
            ("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
            (
                "Access-Control-Allow-Headers",
                echoesHeaders || isPublic ? askedHeaders ?? Self.usualHeaders : Self.usualHeaders
            ),
            ("Access-Control-Max-Age", "600"),
        ]
    }

    private static let exposed = "WWW-Authenticate, Mcp-Session-Id, X-Request-Id, Retry-After"

    private static let usualHeaders = """
        Authorization, Content-Type, Accept, Session-Id, Session-Secret, X-Request-Id, traceparent, Last-Event-ID, \
        Mcp-Session-Id, Mcp-Method, Mcp-Name, MCP-Protocol-Version
        """

    private static func isListByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: ","), 0x20: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
