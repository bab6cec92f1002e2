import Answers
import HTTPWire
import NIOCore

/// The query parameters that carry credentials, and how a query is shown to others without them.
package enum CredentialQuery {
    /// The parameters that are never forwarded, logged or put into a redirect.
    package static let names: [StaticString] = ["access_token", "session_id", "ticket", "session_token"]

    /// Whether one of ``names`` is in the query.
    ///
    /// - Throws: `invalid_request` for a query that can't be read.
    package static func isPresent(in query: [UInt8]?) throws(Problem) -> Bool {
        try contains(names, in: query)
    }

    /// Refuses a query that can't be searched for credentials: no part of it could be forwarded.
    package static func requireReadable(_ query: [UInt8]?) throws(Problem) {
        _ = try contains(names, in: query)
    }

    /// Refuses an access token in the URL, where logs and histories keep it (RFC 9700 section 4.3.2).
    package static func requireNoToken(in query: [UInt8]?) throws(Problem) {
        guard try contains(["access_token"], in: query) else { return }
        throw Problem(
            .invalidRequest, detail: "Send the access token in Authorization, not in the URL.",
            reason: "token_in_query")
    }

    /// The query without credentials, as it may be shown to others; nil when nothing is left, or when it can't be read.
    package static func withoutCredentials(_ query: [UInt8]?) -> [UInt8]? {
        guard let query else { return nil }
        do {
            return try RequestQuery(ByteBuffer(bytes: query)).removing(names).map { Array($0.readableBytesView) }
        } catch {
            return nil
        }
    }

    /// `resume_from`: the number of the last event that the client of an agent socket has seen; nil without one.
    ///
    /// - Throws: `invalid_request` unless it is one whole number of at most 18 digits.
    package static func resumeFrom(_ query: [UInt8]?) throws(Problem) -> Int64? {
        guard let query else { return nil }
        let values = try values(of: "resume_from", in: query)
        guard let first = values.first else { return nil }
        guard values.count == 1, first.count <= 18, first.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(String(decoding: first, as: UTF8.self))
        else {
            throw Problem(.invalidRequest, detail: "resume_from must be a whole number.", reason: "resume_from")
        }
        return number
    }

    static func contains(_ names: [StaticString], in query: [UInt8]?) throws(Problem) -> Bool {
        guard let query else { return false }
        do {
            return try RequestQuery(ByteBuffer(bytes: query)).contains(anyOf: names)
        } catch {
            throw unreadable
        }
    }

    static func values(of name: StaticString, in query: [UInt8]) throws(Problem) -> [[UInt8]] {
        do {
            return try RequestQuery(ByteBuffer(bytes: query)).values(of: name)
        } catch {
            throw unreadable
        }
    }

    private static var unreadable: Problem {
        Problem(.invalidRequest, detail: "The query can't be read.", reason: "query")
    }
}
