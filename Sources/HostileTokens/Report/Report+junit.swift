extension Report {
    /// The report as JUnit XML. An inconclusive case is an error, a failed one a failure.
    public var junit: String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            "<testsuite name=\"gatehouse attack \(transport.rawValue)\" tests=\"\(results.count)\" "
                + "failures=\"\(count(.failed))\" errors=\"\(count(.inconclusive))\" skipped=\"\(count(.skipped))\">",
            "  <properties><property name=\"powers\" value=\"\(powers.map(\.rawValue).joined(separator: " "))\"/>"
                + "</properties>",
        ]
        for result in results {
            let message = XML.escaped(result.reason)
            let text = XML.escaped("expected: \(result.info.expected); \(result.info.reference)")
            let outcome: String? =
                switch result.verdict {
                case .passed: nil
                case .failed: "<failure message=\"\(message)\">\(text)</failure>"
                case .inconclusive: "<error message=\"\(message)\">\(text)</error>"
                case .skipped: "<skipped message=\"\(message)\"/>"
                }
            lines.append(Self.testCase(result.info, outcome))
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }

    /// One case as an element, in the class of its family.
    ///
    /// - Parameter outcome: the element within it; nil for a pass.
    private static func testCase(_ info: CaseInfo, _ outcome: String?) -> String {
        let start =
            "  <testcase classname=\"\(info.group)\" "
            + "name=\"\(XML.escaped(info.id)): \(XML.escaped(info.title))\""
        return outcome.map { "\(start)>\($0)</testcase>" } ?? "\(start)/>"
    }
}

/// Text for XML 1.0.
enum XML {
    /// Escapes markup, and replaces characters that XML does not allow.
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
