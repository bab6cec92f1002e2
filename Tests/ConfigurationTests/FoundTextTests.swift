import Testing

@testable import gatehouse

@Suite("What messages repeat of what was found")
struct FoundTextTests {
    private static let files = [
        "tracing:\n  otlp: http://collector:hunter2@127.0.0.1:4318\n",
        "tracing:\n  otlp: http://127.0.0.1:4318?key=hunter2\n",
        "runtime:\n  url: http://u:hunter2@a.example/x?y\n",
        "routes:\n  - path: /a\n    upstream: ftp://u:hunter2@a\n",
        "log:\n  level: u:hunter2@h\n",
        "server:\n  threads: password=hunter2\n",
        "state:\n  postgres://a:hunter2@h/d: x\n",
        "postgres://a:hunter2@h/d: x\n",
        "state: {a: 1, 'u:hunter2@h': 1, 'u:hunter2@h': 2}\n",
    ]

    @Test("No fault shows a password of a file", arguments: files)
    func hidesInFiles(yaml: String) {
        let found = faults(yaml)
        #expect(!found.isEmpty && !found.contains { $0.contains("hunter2") }, "\(found)")
    }

    @Test(
        "No fault shows a password of a variable",
        arguments: [
            "GATEHOUSE_RUNTIME_URL", "GATEHOUSE_TRACING_OTLP", "GATEHOUSE_LOG_LEVEL", "GATEHOUSE_SERVER_LISTEN",
        ])
    func hidesInVariables(name: String) {
        let found = faults("", environment: [name: "ftp://u:hunter2@h.example/x"])
        #expect(found.count == 1 && found.first?.contains("hunter2") == false, "\(found)")
    }

    @Test(
        "Of a text that could hold a credential the scheme is left, others are repeated",
        arguments: [
            ("http://u:p@h", "'http://…'"), ("http://h/a?b", "'http://…'"), ("u:p@h", "'…'"), ("a=b", "'…'"),
            ("http://u:p%40h", "'http://…'"), ("sec_0123456789abcdef", "'…'"), ("", "nothing"), ("many", "'many'"),
            ("http://a:4318/v1/traces", "'http://a:4318/v1/traces'"), ("c d", "'c d'"),
            (String(repeating: "x", count: 61), "'" + String(repeating: "x", count: 60) + "…'"),
        ])
    func quotes(text: String, shown: String) { #expect(FoundText.quoted(text) == shown) }

    @Test(
        "Only a plain word is repeated as the name of a key",
        arguments: [("lisen", "lisen"), ("tokens.issuer", "tokens.issuer"), ("a b", "…"), ("u:p@h", "…"), ("ä", "…")])
    func names(text: String, shown: String) { #expect(FoundText.name(text) == shown) }
}
