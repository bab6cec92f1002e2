/// P04, P11: what ends a line for one parser and not for another.
enum LineProbes {
    static let all: [Probe] = raw + escaped

    // MARK: P04: line ends as they are

    /// P04: line ends other than CRLF, and folded lines, must not arrive at the upstream.
    ///
    /// RFC 9112 section 2.2 lets a recipient take a lone LF for a line end and makes a lone CR invalid or a space;
    /// section 5.2 has a folded line refused or made one line. A proxy that passes them on leaves the choice to the
    /// upstream.
    private static let raw: [Probe] = [
        line("line-feed", "a line feed alone in a field") { "X-Any: a\nX-Hidden: \($0)\r\n" },
        line("carriage-return", "a carriage return alone in a field") { "X-Any: a\rX-Hidden: \($0)\r\n" },
        line("folded", "a field on two lines") { "X-Any: a\r\n X-Hidden: \($0)\r\n" },
        line("folded-tab", "a field on two lines, of which a tab begins the second") { "X-Any: a\r\n\t\($0)\r\n" },
    ]

    private static func line(
        _ name: String, _ title: String, _ fields: @escaping @Sendable (String) -> String
    ) -> Probe {
        .upstream(
            "P04-\(name)", title, "RFC 9112 §2.2, §5.2", expected: "refused, or passed on as lines of one reading"
        ) { talk, _ in
            let marker = Marker()
            let lines = try talk.credentialFields() + fields(marker.value)
            _ = try await talk.attempt("attack", try talk.canaryRequest("?\(marker.value)", fields: lines))
            for bytes in try await talk.arrivals(of: marker.value) {
                if let fault = Self.fault(of: bytes) { return .failed("\(fault) arrived at the upstream") }
            }
            return .passed("nothing of two readings arrived at the upstream")
        }
    }

    /// What two parsers could read differently in a head, or nil.
    ///
    /// Looks for a CR or LF alone, a folded line and a NUL, up to the first empty line.
    static func fault(of bytes: [UInt8]) -> String? {
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.endIndex
        let head = bytes[..<end]
        for (index, byte) in zip(head.indices, head) {
            let next = index + 1 < end ? head[index + 1] : 0
            let last = index > 0 ? head[index - 1] : 0
            if byte == 0x0D, next != 0x0A { return "a carriage return alone" }
            if byte == 0x0A, last != 0x0D { return "a line feed alone" }
            if byte == 0x0A, next == 0x20 || next == 0x09 { return "a folded line" }
            if byte == 0 { return "a NUL" }
        }
        return nil
    }

    // MARK: P11: line ends that are decoded

    /// P11: percent-encoded line ends must not be decoded on their way to the upstream.
    private static let escaped: [Probe] = [
        decoded("path", "an encoded line break in the path") { "/\($0)%0d%0aX-Hidden:%20\($1)" },
        decoded("path-line-feed", "an encoded line feed in the path") { "/\($0)%0aX-Hidden:%20\($1)" },
        decoded("query", "an encoded line break in the query") { "?\($0)%0d%0aX-Hidden:%20\($1)" },
    ]

    private static func decoded(
        _ name: String, _ title: String, _ rest: @escaping @Sendable (String, String) -> String
    ) -> Probe {
        .upstream(
            "P11-line-\(name)", title, "CWE-93, CWE-113", expected: "refused, or passed on encoded"
        ) { talk, _ in
            let (marker, hidden) = (Marker(), Marker())
            _ = try await talk.attempt(
                "attack",
                try talk.canaryRequest(rest(marker.value, hidden.value), fields: try talk.credentialFields()))
            return try await talk.hasArrived("\nX-Hidden: \(hidden.value)", in: marker)
                ? .failed("a field of its own arrived at the upstream")
                : .passed("no field of its own arrived at the upstream")
        }
    }
}
