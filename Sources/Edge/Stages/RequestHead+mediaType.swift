import HTTPWire

extension RequestHead {
    /// What is said of the body's media type: lower-cased, without parameters and the spaces around it; nil where there
    /// is no `Content-Type`, and where there are several, since the gateway would have to guess which one counts.
    var mediaType: Substring? {
        guard let field = only(.contentType) else { return nil }
        var type = string(field.value).prefix { $0 != ";" }.lowercased()[...].drop { $0 == " " }
        while type.last == " " { type.removeLast() }
        return type
    }
}
