import HTTPWire
import NIOCore

/// Escapes of escapes in paths, such as `%2561`: a server that decodes twice reads it as `a`. Those of dots, slashes and
/// the like are refused with the path's form (``CanonicalPath``); others are honest where a name has a percent sign.
package enum EscapedEscapes {
    /// Whether the path would have another route if it were decoded twice, or would be one of the gateway's own or
    /// none.
    ///
    /// - Parameters:
    ///   - path: canonical.
    ///   - match: finds the route for a path.
    package static func areAmbiguous(
        in path: [UInt8], besides own: OwnPaths, match: ([UInt8]) -> RouteTable.Match
    ) -> Bool {
        // A percent sign in front of two letters may stand for itself: then the whole is often no UTF-8.
        for isASCII in [false, true] {
            let decoded = decoding(path, ofASCII: isASCII)
            if decoded == path { return false }
            guard let read = try? CanonicalPath(ByteBuffer(bytes: decoded), allowEncodedSlash: true) else { continue }
            return RouteTable.isAnother(Array(read.bytes.readableBytesView), than: path, besides: own, match: match)
        }
        return true
    }

    /// The path with the outer escape of each escaped escape taken away.
    ///
    /// - Parameter ofASCII: whether that is done for ASCII alone.
    private static func decoding(_ path: [UInt8], ofASCII: Bool) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = path[...]
        while let byte = rest.first {
            decoded.append(byte)
            let digits = rest.dropFirst(3).prefix(2)
            let isEscaped =
                rest.starts(with: "%25".utf8) && digits.filter(isHexDigit).count == 2
                && (!ofASCII || digits.first.map { $0 < UInt8(ascii: "8") } == true)
            rest = rest.dropFirst(isEscaped ? 3 : 1)
        }
        return decoded
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
