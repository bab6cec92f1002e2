import Foundation

/// Holds the Swift code that a page shows to the code that a test runs: each ```` ```swift ```` block of the page is,
/// in order, what stands in the test's source between the lines `// snippet` and `// end`, but for indentation.
public enum DocumentedCode {
    /// The blocks of Swift that a page shows.
    ///
    /// - Parameter path: from the root of the package.
    public static func shown(in path: String) throws -> [String] {
        let page = try String(contentsOf: packageRoot.appendingPathComponent(path), encoding: .utf8)
        return page.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    /// The snippets of a test's source, without the indentation of their first line.
    ///
    /// - Parameter file: the test's `#filePath`.
    public static func run(in file: String) throws -> [String] {
        let lines = try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n")
        var snippets: [String] = []
        var current: [Substring]?
        var indentation = 0
        for line in lines {
            switch (line.trimmingCharacters(in: .whitespaces), current) {
            case ("// snippet", _):
                current = []
                indentation = line.prefix { $0 == " " }.count
            case ("// end", let body?):
                snippets.append(body.joined(separator: "\n"))
                current = nil
            case (_, let body?):
                let isIndented = line.prefix(indentation).allSatisfy { $0 == " " }
                current = body + [isIndented ? line.dropFirst(indentation) : Substring(line)]
            default: break
            }
        }
        return snippets
    }

    /// Where the package lies.
    public static var packageRoot: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }
}
