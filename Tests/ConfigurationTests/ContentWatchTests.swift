import Testing

@testable import gatehouse

@Suite("When a file counts as changed") struct ContentWatchTests {
    /// The steps of a watch that reads these contents one after the other; nil for no file.
    private static func steps(_ contents: [String?], used: String?) -> [ContentWatch.Step] {
        var watch = ContentWatch()
        return contents.map { content in
            watch.step(reading: content.map { Array($0.utf8) }, used: used.map { Array($0.utf8) })
        }
    }

    @Test(
        "A content that was read twice in a row is reloaded, once, and then tried again as long as it is not in use",
        arguments: [
            (["a", "a"], [.wait, .wait]), (["b", "b"], [.wait, .reload]), (["b", "a", "b"], [.wait, .wait, .wait]),
            (["b", "c", "c"], [.wait, .wait, .reload]), (["b", nil, "b", "b"], [.wait, .wait, .wait, .reload]),
            (["b", "b", "b", "b"], [.wait, .reload, .retry, .retry]),
            (["b", "b", "c", "c", "c"], [.wait, .reload, .wait, .reload, .retry]),
            (["b", "b", "a", "b", "b"], [.wait, .reload, .wait, .wait, .reload]),
        ] as [([String?], [ContentWatch.Step])])
    func changes(contents: [String?], steps: [ContentWatch.Step]) {
        #expect(Self.steps(contents, used: "a") == steps)
    }

    @Test("A file that appears is a change of none, and one that is missing changes nothing")
    func appears() {
        #expect(Self.steps([nil, "a", "a"], used: nil) == [.wait, .wait, .reload])
        #expect(Self.steps([nil, nil], used: "a") == [.wait, .wait])
    }

    @Test("Once a content is in use it is left alone")
    func inUse() {
        var watch = ContentWatch()
        let (old, new) = (Array("a".utf8), Array("b".utf8))
        let steps = [
            watch.step(reading: new, used: old), watch.step(reading: new, used: old),
            watch.step(reading: new, used: new), watch.step(reading: old, used: new),
            watch.step(reading: old, used: new),
        ]
        #expect(steps == [.wait, .reload, .wait, .wait, .reload])
    }
}
