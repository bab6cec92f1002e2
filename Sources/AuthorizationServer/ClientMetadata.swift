import Encodings
import OAuth

/// The metadata of a client (RFC 7591 section 2), from a registration or from a metadata document. Unknown members are
/// ignored.
package struct ClientMetadata: Sendable, Equatable {
    private static let maximumRedirects = 16

    /// The name for people; empty if the client has none.
    package let name: String
    /// Where it may receive codes, at least one.
    package let redirectURIs: [RedirectURI]
    /// The scopes that it may have at most; empty for no limit.
    package let scopes: [String]

    /// Reads the members.
    /// - Throws: `invalid_redirect_uri` or `invalid_client_metadata` (RFC 7591 section 3.2.2).
    package init(_ object: JSONObject) throws(OAuthFault) {
        name = try Self.name(object["client_name"])
        guard let list = object["redirect_uris"]?.arrayValue, !list.isEmpty, list.count <= Self.maximumRedirects else {
            throw Self.redirectRefused
        }
        var uris: [RedirectURI] = []
        for value in list {
            guard let uri = value.stringValue.flatMap({ RedirectURI($0) }) else { throw Self.redirectRefused }
            uris.append(uri)
        }
        redirectURIs = uris
        if let scope = object["scope"], !scope.isNull {
            guard let scopes = scope.stringValue.flatMap(Scope.parseWithExtraSpaces) else { throw Self.unsupported }
            self.scopes = scopes
        } else {
            scopes = []
        }
        try Self.requireMember("authorization_code", of: object["grant_types"])
        try Self.requireMember("code", of: object["response_types"])
    }

    /// A name of up to 128 bytes without control characters, trimmed; directional marks are not allowed, because they
    /// change how the consent page reads.
    private static func name(_ value: JSONValue?) throws(OAuthFault) -> String {
        guard let value, !value.isNull else { return "" }
        guard let text = value.stringValue, text.utf8.count <= 128,
            text.unicodeScalars.allSatisfy({ !isMisleading($0) })
        else { throw Self.unsupported }
        return text
    }

    private static func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    /// A list that is given must contain what this server supports.
    private static func requireMember(_ name: String, of value: JSONValue?) throws(OAuthFault) {
        guard let value, !value.isNull else { return }
        guard let list = value.arrayValue, list.contains(where: { $0.stringValue?.hasSameBytes(as: name) == true })
        else { throw Self.unsupported }
    }

    private static let redirectRefused = OAuthFault(
        .invalidRedirectURI,
        "'redirect_uris' needs https, http on loopback, or a private-use scheme with a dot, without a fragment.")
    private static let unsupported = OAuthFault(
        .invalidClientMetadata, "The metadata is malformed, or asks for what is not supported.")
}
