/// Path parameters (`;a=b` after a segment), which some servers remove before they interpret a path.
package enum PathParameters {
    /// Whether the path without its parameters would be treated differently: as one of the gateway's own paths, or by
    /// another route.
    package static func areAmbiguous(
        in path: [UInt8], besides own: OwnPaths, match: ([UInt8]) -> RouteTable.Match
    ) -> Bool {
        let cut = cuttingParameters(of: path)
        if cut == path { return false }
        return hasEmptySegment(cut) || RouteTable.isAnother(cut, than: path, besides: own, match: match)
    }

    /// The path without the parameters: from a semicolon, raw or escaped, to the end of its segment.
    static func cuttingParameters(of path: [UInt8]) -> [UInt8] {
        var cut: [UInt8] = []
        var isSkipping = false
        for (index, byte) in path.enumerated() {
            if byte == UInt8(ascii: "/") { isSkipping = false }
            let isEscaped = byte == UInt8(ascii: "%") && path[index...].starts(with: "%3B".utf8)
            if byte == UInt8(ascii: ";") || isEscaped { isSkipping = true }
            if !isSkipping { cut.append(byte) }
        }
        return cut
    }

    private static func hasEmptySegment(_ path: [UInt8]) -> Bool {
        zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: "/") }
    }
}
