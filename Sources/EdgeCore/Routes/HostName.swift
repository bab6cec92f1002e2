/// The name in a `Host` field or an authority.
package enum HostName {
    /// The name or address without its port, and without the final dot of a fully qualified name, which names the same
    /// host.
    package static func withoutPort(_ host: [UInt8]) -> [UInt8] {
        if host.first == UInt8(ascii: "["), let end = host.firstIndex(of: UInt8(ascii: "]")) {
            return Array(host[...end])
        }
        var name = host[..<(host.lastIndex(of: UInt8(ascii: ":")) ?? host.endIndex)]
        if name.count > 1, name.last == UInt8(ascii: ".") { name.removeLast() }
        return Array(name)
    }
}
