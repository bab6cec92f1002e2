import Answers
import HTTPWire

/// What a request's header fields present as credentials. Nothing of it has been judged but its form.
package struct PresentedCredentials {
    /// How `Authorization` was used.
    package enum Authorization: Equatable {
        case absent
        case bearer([UInt8])
        case basic([UInt8])
        case other
    }

    package var authorization = Authorization.absent
    package var sessionID: [UInt8]?
    package var sessionSecret: [UInt8]?
    package var sessionCookie: [UInt8]?
    package var refreshCookie: [UInt8]?

    /// Reads the fields of a head. Two of anything is a fault: nobody could say which one counts.
    package static func read(_ head: RequestHead, cookies: CookieMode) -> Result<PresentedCredentials, Problem> {
        var found = PresentedCredentials()
        for field in head.fields {
            switch field.id {
            case .authorization:
                guard found.authorization == .absent else { return .failure(twice("Authorization")) }
                // No token is that long: it is refused before anything looks at it.
                guard field.value.count <= maxAuthorization else {
                    return .failure(Problem(.headerTooLarge, reason: "authorization_too_long"))
                }
                found.authorization = head.withBytes(field.value) { authorization($0) }
            case .sessionID:
                guard found.sessionID == nil else { return .failure(twice("Session-Id")) }
                found.sessionID = head.withBytes(field.value) { Array($0) }
            case .sessionSecret:
                guard found.sessionSecret == nil else { return .failure(twice("Session-Secret")) }
                found.sessionSecret = head.withBytes(field.value) { Array($0) }
            case .cookie:
                if let problem = found.readCookies(head, field.value, mode: cookies) { return .failure(problem) }
            default: break
            }
        }
        if let problem = found.swapped() { return .failure(problem) }
        return .success(found)
    }

    /// 8 KiB, and the scheme before it.
    private static let maxAuthorization = 8 * 1024 + "Bearer ".utf8.count

    /// A value that is shaped like another kind of credential than its field carries.
    func swapped() -> Problem? {
        if case .bearer(let token) = authorization, CredentialShape(token).isSwapped(from: .accessToken) {
            return Problem(.credentialsSwapped, reason: "authorization_carries_another_kind")
        }
        if let sessionID, CredentialShape(sessionID).isSwapped(from: .sessionID) {
            return Problem(.credentialsSwapped, reason: "session_id_carries_another_kind")
        }
        if let sessionSecret, CredentialShape(sessionSecret).isSwapped(from: .sessionSecret) {
            return Problem(.credentialsSwapped, reason: "session_secret_carries_another_kind")
        }
        if let sessionCookie, CredentialShape(sessionCookie).isSwapped(from: .sessionSecret) {
            return Problem(.credentialsSwapped, reason: "session_cookie_carries_another_kind")
        }
        if let refreshCookie, CredentialShape(refreshCookie).isSwapped(from: .refreshToken) {
            return Problem(.credentialsSwapped, reason: "refresh_cookie_carries_another_kind")
        }
        return nil
    }

    private mutating func readCookies(_ head: RequestHead, _ value: ByteRange, mode: CookieMode) -> Problem? {
        guard let sessionName = mode.sessionName, let refreshName = mode.refreshName else { return nil }
        var problem: Problem?
        var session = sessionCookie
        var refresh = refreshCookie
        head.withBytes(value) { bytes in
            CookieHeader.forEachPair(in: bytes) { name, value in
                if name.elementsEqual(sessionName.utf8) {
                    if session != nil { problem = Self.twice("the session cookie") }
                    session = Array(value)
                } else if name.elementsEqual(refreshName.utf8) {
                    if refresh != nil { problem = Self.twice("the refresh cookie") }
                    refresh = Array(value)
                }
            }
        }
        sessionCookie = session.flatMap { $0.isEmpty ? nil : $0 }
        refreshCookie = refresh.flatMap { $0.isEmpty ? nil : $0 }
        return problem
    }

    /// The scheme is case-insensitive and one space follows it (RFC 9110 section 11.6.2, RFC 6750 section 2.1).
    package static func authorization(_ value: UnsafeRawBufferPointer) -> Authorization {
        guard let space = value.firstIndex(of: UInt8(ascii: " ")) else {
            return matches(value[...], "bearer") ? .bearer([]) : .other
        }
        let scheme = value[..<space]
        let rest = value[value.index(after: space)...]
        if matches(scheme, "bearer") { return .bearer(Array(rest)) }
        if matches(scheme, "basic") { return .basic(Array(rest)) }
        return .other
    }

    /// The token of a value that is `Bearer`, one space and a token of no unusual length; nil for any other.
    package static func bearerToken(in value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard value.count > 7, value.count <= maxAuthorization, value[6] == UInt8(ascii: " "),
            matches(value[..<6], "bearer")
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: value[7...])
    }

    private static func matches(_ bytes: Slice<UnsafeRawBufferPointer>, _ lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: lowercase.utf8Start, count: lowercase.utf8CodeUnitCount)
        return zip(bytes, expected).allSatisfy { ($0.0 | 0x20) == $0.1 }
    }

    private static func twice(_ what: String) -> Problem {
        Problem(.invalidRequest, detail: "\(what) was sent more than once.".capitalizedFirst, reason: "sent_twice")
    }
}

extension String {
    /// The text with its first character in upper case.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
