import ArgumentParser
import Encodings
import HostileTokens
import JOSE

/// The options that select the cases to run, list or explain.
struct CaseSelection: ParsableArguments {
    @Option(help: .init("Only cases with this id or pattern, such as 'J01-*'; may be repeated.", valueName: "id"))
    var only: [String] = []
    @Option(help: .init("No cases with this id or pattern; may be repeated.", valueName: "id"))
    var skip: [String] = []
    @Option(help: .init("Only cases of this group, such as signature; may be repeated.", valueName: "name"))
    var category: [String] = []
    @Flag(help: "List the cases; with --json as an array.")
    var list = false
    @Option(help: .init("Say what a case does.", valueName: "id"))
    var explain: String?
    @Option(help: .init("Write the selected tokens as vectors for other suites: JSON.", valueName: "file"))
    var export: String?

    /// Whether cases are only told of. Then no target is needed, and nothing is sent.
    var isListing: Bool { list || explain != nil || export != nil }

    /// Refuses a category that does not exist.
    func validate(isListing: Bool) throws {
        let groups = Set(CaseCatalogue.all.map(\.info.group))
        for name in category where !groups.contains(name) {
            throw ValidationError("--category \(name): there are \(groups.sorted().joined(separator: " "))")
        }
    }

    /// Whether the case is among those that were asked for.
    func selects(_ info: CaseInfo) -> Bool {
        Glob.selects(info.id, only: only, skip: skip) && (category.isEmpty || category.contains(info.group))
    }

    /// The selected cases, at least one.
    func cases() throws(CommandFailure) -> [HostileCase] {
        let cases = CaseCatalogue.all.filter { selects($0.info) }
        guard !cases.isEmpty else {
            throw CommandFailure("no case is selected: see --list, --only and --skip", status: .misused)
        }
        return cases
    }

    /// Carries out `--list`, `--explain` and `--export`.
    func show(asJSON: Bool) throws {
        if let export { return try VectorExport.write(try cases(), to: export) }
        if let explain {
            guard let hostile = CaseCatalogue.named(explain) else {
                let nearest = NearestKey.nearest(to: explain, among: CaseCatalogue.all.map(\.info.id)) ?? ""
                throw CommandFailure("\(explain): no such case: did you mean \(nearest)? See --list", status: .misused)
            }
            return show(hostile, asJSON: asJSON)
        }
        let cases = try cases().map(\.info)
        if asJSON {
            Terminal.answer(TerminalJSON.text(.array(cases.map { .object($0.json) })))
            return
        }
        let width = cases.map(\.id.count).max() ?? 0
        for info in cases {
            let space = String(repeating: " ", count: max(0, width - info.id.count))
            Terminal.answer(TerminalText.escaped("\(info.id)\(space)  \(info.title)"))
        }
    }

    /// Prints what a case is about.
    private func show(_ hostile: HostileCase, asJSON: Bool) {
        let info = hostile.info
        if asJSON {
            var object = info.json
            object["explanation"] = .string(hostile.explanation)
            Terminal.answer(TerminalJSON.text(.object(object)))
            return
        }
        let lines = [
            "\(info.id): \(info.title)", hostile.explanation, "Expected: \(info.expected)",
            "Reference: \(info.reference)", "Needs: \(info.needs.map(\.rawValue).joined(separator: ", "))",
        ]
        for line in lines { Terminal.answer(TerminalText.escaped(line)) }
    }
}
