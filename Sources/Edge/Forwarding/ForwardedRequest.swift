import HTTPWire

/// What a proxy in front says about the original request. Read from `X-Forwarded-Method`, `-Uri` and `-Host` and the
/// `X-Original-` names for the first two. Whether the peer may say so is judged elsewhere.
package struct ForwardedRequest {
    /// Its method, if a field says so.
    package private(set) var method: [UInt8]?
    private(set) var uri: [UInt8]?
    /// Its host, if a field says so.
    package private(set) var host: [UInt8]?
    /// Whether any forwarded field was sent, those included that are not read here.
    private(set) var isForwarded = false
    /// Whether something was said twice, even in two fields of different names.
    private(set) var isDoubled = false

    /// Of a field that is there twice the last counts, and ``isDoubled`` tells of it.
    package init(_ head: RequestHead) {
        var names: [ByteRange] = []
        for field in head.fields where Self.isForwarded(field, of: head) {
            isForwarded = true
            isDoubled = isDoubled || names.contains { head.equals($0, field.name) }
            names.append(field.name)
            read(field, of: head)
        }
    }

    /// Whether a field speaks of the request that a proxy in front has received. Judged by families of names, so
    /// that one that is not known here counts as well.
    private static func isForwarded(_ field: HeaderField, of head: RequestHead) -> Bool {
        switch field.id {
        case .forwarded, .xForwarded: true
        case .xIdentity:
            head.hasPrefix(field.name, "x-original-") || head.hasPrefix(field.name, "x-rewrite-")
                || head.equals(field.name, "x-real-ip")
        default: false
        }
    }

    private mutating func read(_ field: HeaderField, of head: RequestHead) {
        func named(_ names: StaticString...) -> Bool { names.contains { head.equals(field.name, $0) } }
        func value() -> [UInt8] { head.withBytes(field.value) { Array($0) } }
        if named("x-forwarded-method", "x-original-method") {
            isDoubled = isDoubled || method != nil
            method = value()
        } else if named("x-forwarded-uri", "x-original-uri", "x-original-url") {
            isDoubled = isDoubled || uri != nil
            uri = value()
        } else if named("x-forwarded-host") {
            host = value()
        }
    }
}
