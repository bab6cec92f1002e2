import IdentityProviders
import OAuth

/// The parameters of an `application/x-www-form-urlencoded` body, each at most once (RFC 6749 section 3.2), but for one
/// that the endpoint may let repeat. At most 64 parameters. Names are compared by bytes; parameters that an endpoint does not know are ignored.
package struct FormBody: Sendable {
    /// Beyond that, looking for repeated names would cost more than a request may.
    private static let maximumCount = 64
    private var parameters: [(name: [UInt8], value: String)] = []

    /// Parses a body.
    ///
    /// - Parameters:
    ///   - bytes: the whole body; the edge takes at most 64 KiB.
    ///   - repeatable: a name that may be there more than once; such a parameter is read with ``single(_:)`` and
    ///     ``has(_:)``.
    /// - Throws: `invalid_request` for a malformed escape, text that is not UTF-8, any other name that is there twice,
    ///   and too many parameters.
    package init(_ bytes: [UInt8], repeatable: String? = nil) throws(OAuthFault) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let rest = pair.dropFirst(name.count).dropFirst()
            guard let name = FormText.bytes(unescaping: name), let value = FormText.bytes(unescaping: rest),
                let text = String(validating: value, as: UTF8.self)
            else {
                throw OAuthFault(.invalidRequest, "The body is not well-formed form data.", reason: "form_malformed")
            }
            guard parameters.count < Self.maximumCount else {
                throw OAuthFault(.invalidRequest, "There are too many parameters.", reason: "too_many_parameters")
            }
            let mayRepeat = repeatable.map { name.elementsEqual($0.utf8) } ?? false
            guard mayRepeat || !parameters.contains(where: { $0.name == name }) else { throw Self.repeated }
            parameters.append((name, text))
        }
    }

    /// The value of a parameter; one without a value counts as absent. RFC 6749 section 3.1 asks for that.
    package subscript(name: String) -> String? {
        guard let found = parameters.first(where: { $0.name.elementsEqual(name.utf8) }) else { return nil }
        return found.value.isEmpty ? nil : found.value
    }

    private static let repeated = OAuthFault(
        .invalidRequest, "A parameter is there twice.", reason: "parameter_repeated")

    /// The value of a parameter that was allowed to repeat, where it may not after all.
    ///
    /// - Throws: `invalid_request` if it is there more than once, empty ones included.
    package func single(_ name: String) throws(OAuthFault) -> String? {
        guard parameters.count(where: { $0.name.elementsEqual(name.utf8) }) <= 1 else { throw Self.repeated }
        return self[name]
    }

    /// Every value of a parameter, in order, empty ones included.
    package func all(_ name: String) -> [String] {
        parameters.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }

    /// Whether the parameter is there with a value, once or more.
    package func has(_ name: String) -> Bool {
        parameters.contains { $0.name.elementsEqual(name.utf8) && !$0.value.isEmpty }
    }

    /// The value of a required parameter.
    ///
    /// - Throws: `invalid_request` where it is absent.
    package func required(_ name: String) throws(OAuthFault) -> String {
        guard let value = self[name] else {
            throw OAuthFault(.invalidRequest, "'\(name)' is needed.", reason: "parameter_missing")
        }
        return value
    }
}
