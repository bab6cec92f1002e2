import JOSE

/// What a message may repeat of a text that someone wrote into a file, a variable or a flag. Messages end up in logs, in
/// answers of the admin listener and on terminals, so nothing that could hold a password is repeated.
enum FoundText {
    /// The most characters that are repeated.
    private static let most = 60

    /// A value in quotes. Of one that could hold a credential only the scheme of its URL is left.
    static func quoted(_ text: String) -> String {
        guard !text.isEmpty else { return "nothing" }
        guard !mayHoldSecret(text) else { return "'\(scheme(of: text))…'" }
        let shown = TerminalText.escaped(String(text.prefix(most)))
        return text.count > most ? "'\(shown)…'" : "'\(shown)'"
    }

    /// The name of a key or a header field, without quotes: `…` unless it is a plain word.
    static func name(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            isLetter(byte) || (0x30...0x39).contains(byte) || "-_.".utf8.contains(byte)
        }
        return isPlain && text.utf8.count <= most && AuditScrub.clean(text) == text ? text : "…"
    }

    /// Whether a value could hold a credential: anything with an `@`, a query, a fragment, a `name=value`, an encoded
    /// byte, or the form of a token.
    static func mayHoldSecret(_ text: String) -> Bool {
        text.utf8.contains { "@?#=%".utf8.contains($0) } || AuditScrub.clean(text) != text
    }

    /// `http://` and the like at the beginning of a text; empty if there is none.
    private static func scheme(of text: String) -> String {
        guard let mark = text.firstRange(of: "://") else { return "" }
        let scheme = text[..<mark.lowerBound].utf8
        guard scheme.count <= 12, scheme.allSatisfy(isLetter) else { return "" }
        return String(text[..<mark.upperBound])
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
}
