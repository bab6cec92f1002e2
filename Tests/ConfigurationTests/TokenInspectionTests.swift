import Encodings
import Foundation
import JOSE
import Testing

@testable import gatehouse

@Suite("token inspect")
struct TokenInspectionTests {
    @Test("Nothing a terminal obeys is printed, and nothing is called good without a key")
    func isHarmless() throws {
        let key = try SigningKey.generate(.es256, keyID: "k\u{1B}[31m")
        let text = try key.sign(
            claims: ["a\u{07}": "\u{1B}]0;x\u{07}\u{202E}", "b": "\u{9B}2J"], type: "\u{1B}[0m")
        let inspection = TokenInspection(token: try UnverifiedToken(text), now: 0)
        let output = inspection.lines.joined(separator: "\n") + TerminalJSON.text(.object(inspection.json))
        for scalar in output.unicodeScalars where scalar != "\n" {
            #expect(TerminalText.escaped(String(scalar)) == String(scalar))
        }
        #expect(!output.lowercased().contains("valid"))
    }

    @Test("Escaped JSON still means the same")
    func keepsItsMeaning() throws {
        let value: JSONValue = ["a": "\u{202E}\u{E000}\u{1F600}\u{F0000}é\n"]
        #expect(try StrictJSON.parse(TerminalJSON.text(value)) == value)
    }
}
