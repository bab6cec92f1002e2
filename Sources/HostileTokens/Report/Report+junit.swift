extension Report {
    /// The report as JUnit's XML; an inconclusive attack is an error, which is not a failure.
    public var junit: String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            "<testsuite name=\"gatehouse attack \(transport.rawValue)\" tests=\"\(results.count + skipped.count)\" "
                + "failures=\"\(count(.fail))\" errors=\"\(count(.inconclusive))\" skipped=\"\(skipped.count)\">",
        ]
        for result in results {
            let message = XML.escaped(result.detail)
            let text = XML.escaped("expected: \(result.attack.expectation.text); \(result.attack.reference)")
            let outcome: String? =
                switch result.verdict {
                case .pass: nil
                case .fail: "<failure message=\"\(message)\">\(text)</failure>"
                case .inconclusive: "<error message=\"\(message)\">\(text)</error>"
                }
            lines.append(Self.testCase(result.attack, outcome))
        }
        for skip in skipped {
            lines.append(Self.testCase(skip.attack, "<skipped message=\"\(XML.escaped(skip.reason))\"/>"))
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }

    private static func testCase(_ attack: Attack, _ outcome: String?) -> String {
        let start =
            "  <testcase classname=\"\(attack.category.rawValue)\" "
            + "name=\"\(XML.escaped(attack.id)): \(XML.escaped(attack.title))\""
        return outcome.map { "\(start)>\($0)</testcase>" } ?? "\(start)/>"
    }
}

/// Text within XML 1.0.
enum XML {
    /// What has a meaning is escaped, and what may not be there at all is replaced.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += " "
            case let scalar where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
