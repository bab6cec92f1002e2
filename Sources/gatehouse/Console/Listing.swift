import Encodings
import JOSE

/// A listing, printed as a table or as JSON.
struct Listing {
    /// The columns of the table, which are the member names in JSON.
    let columns: [String]
    var rows: [JSONObject] = []

    /// Writes it to standard output.
    func show(asJSON: Bool) {
        if asJSON {
            Terminal.answer(TerminalJSON.text(.array(rows.map { .object($0) })))
        } else {
            for line in table { Terminal.answer(line) }
        }
    }

    private var table: [String] {
        let cells = [columns.map { $0.uppercased() }] + rows.map { row in columns.map { text(row[$0]) } }
        let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: max(0, width - cell.count))
            }
            var line = padded.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// The value in a column; `-` for none.
    private func text(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: "-"
        case .string(let text): text.isEmpty ? "-" : TerminalText.escaped(text)
        case .bool(let truth): truth ? "yes" : "no"
        case .array(let elements): elements.isEmpty ? "-" : elements.map { text($0) }.joined(separator: " ")
        case .some(let other): TerminalText.escaped(other.serialized())
        }
    }
}
