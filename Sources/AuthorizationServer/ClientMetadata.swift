import Encodings

/// The metadata of a client (RFC 7591 section 2), from a registration or from a metadata document. Unknown members are
/// ignored.
package struct ClientMetadata: Sendable, Equatable {
    /// The kinds of fault. Each is also the `error` of RFC 7591 section 3.2.2.
    package enum Fault: String, Error, Sendable {
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidClientMetadata = "invalid_client_metadata"
    }

    private static let maximumRedirects = 16

    /// The name for people; empty if the client has none.
    package let name: String
    /// Where it may receive codes, at least one.
    package let redirectURIs: [RedirectURI]
    /// The scopes that it may have at most; empty for no limit.
    package let scopes: [String]

    /// Reads the members.
    package init(_ object: JSONObject) throws(Fault) {
        name = try Self.name(object["client_name"])
        guard let list = object["redirect_uris"]?.arrayValue, !list.isEmpty, list.count <= Self.maximumRedirects else {
            throw .invalidRedirectURI
        }
        var uris: [RedirectURI] = []
        for value in list {
            guard let uri = value.stringValue.flatMap({ RedirectURI($0) }) else { throw .invalidRedirectURI }
            uris.append(uri)
        }
        redirectURIs = uris
        if let scope = object["scope"], !scope.isNull {
            guard let scopes = scope.stringValue.flatMap(ScopeAlgebra.parse) else { throw .invalidClientMetadata }
            self.scopes = scopes
        } else {
            scopes = []
        }
        try Self.requireMember("authorization_code", of: object["grant_types"])
        try Self.requireMember("code", of: object["response_types"])
    }

    /// A name of up to 128 bytes without control characters, trimmed; directional marks are not allowed, because they
    /// change how the consent page reads.
    private static func name(_ value: JSONValue?) throws(Fault) -> String {
        guard let value, !value.isNull else { return "" }
        guard let text = value.stringValue, text.utf8.count <= 128,
            text.unicodeScalars.allSatisfy({ !isMisleading($0) })
        else { throw .invalidClientMetadata }
        return text
    }

    private static func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    /// A list that is given must contain what this server supports.
    private static func requireMember(_ name: String, of value: JSONValue?) throws(Fault) {
        guard let value, !value.isNull else { return }
        guard let list = value.arrayValue, list.contains(where: { $0.stringValue?.hasSameBytes(as: name) == true })
        else { throw .invalidClientMetadata }
    }
}
