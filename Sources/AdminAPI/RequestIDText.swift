/// The form of request ids, which name refusals and connections.
enum RequestIDText {
    /// Whether a text is `req_` and 21 digits in base 36.
    static func isShaped(_ text: some StringProtocol) -> Bool {
        let digits = text.utf8.dropFirst(4)
        return text.utf8.starts(with: "req_".utf8) && digits.count == 21
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    }
}
