import Testing

/// Checks a refusal: its status and its code.
func expectRefused(
    _ answer: RawResponse, _ status: Int, _ code: String, _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(
        answer.status == status && answer.code == code, "\(what): \(answer.status) \(answer.text.prefix(300))",
        sourceLocation: sourceLocation)
}

/// Checks an answer's status.
func expectStatus(
    _ answer: RawResponse, _ status: Int, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(what): \(answer.text.prefix(300))", sourceLocation: sourceLocation)
}
