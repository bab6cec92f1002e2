import Testing

@testable import gatehouse

@Suite("The command line's words")
struct CommandArgumentsTests {
    private let keyID = "-h" + String(repeating: "A", count: 39) + "_w"

    @Test("A kid that begins like an option goes where nothing is one")
    func movesKeyID() {
        let moved = ["keys", "retire", "--keys", "dir", "--", keyID]
        #expect(CommandArguments.settled(["keys", "retire", keyID]) == ["keys", "retire", "--", keyID])
        #expect(CommandArguments.settled(["keys", "retire", keyID, "--keys", "dir"]) == moved)
        #expect(CommandArguments.settled(["keys", "retire", "--keys", "dir", keyID]) == moved)
        let joined = ["keys", "retire", "--keys=dir", "--", keyID]
        #expect(CommandArguments.settled(["keys", "retire", "--keys=dir", keyID]) == joined)
    }

    @Test("Everything else stays as it was")
    func leavesTheRest() {
        let others: [[String]] = [
            [], ["keys"], ["keys", "retire"], ["keys", "retire", "-h"], ["keys", "retire", "--help"],
            ["keys", "retire", "--", keyID], ["keys", "retire", "--keys", keyID], ["keys", "list", keyID],
            ["keys", "retire", keyID + "A"], ["keys", "retire", "-." + String(keyID.dropFirst(2))],
            ["keys", "retire", String(repeating: "A", count: 43)],
        ]
        for arguments in others { #expect(CommandArguments.settled(arguments) == arguments) }
    }
}
