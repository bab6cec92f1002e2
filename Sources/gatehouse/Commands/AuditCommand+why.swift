import AdminAPI
import ArgumentParser
import EdgeConfiguration
import EdgeCore
import Encodings
import JOSE

extension AuditCommand {
    /// `audit why`: prints the log's lines of one request, and for a refusal the check that failed and the key that
    /// decides about it. Exits with status 1 if the log has no such request, and with 2 if no log is named.
    struct Why: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows what the audit log has of a request, and which part of the configuration decided it.",
            discussion: "The log is audit.file of the configuration, or the files that are named, the oldest first.")

        @Argument(help: "The request's id (req_…), from the answer or X-Request-Id.")
        var requestID: String
        @Argument(help: "The files of the log; default: audit.file.")
        var files: [String] = []
        @OptionGroup var options: ConfigurationOptions

        /// Refuses an empty id or path as wrong usage.
        func validate() throws {
            try StateOptions.requireGiven(requestID, as: "the request's id")
            for file in files { try StateOptions.requireGiven(file, as: "the path of a file") }
        }

        func run() throws {
            let loaded = try options.load(warn: false)
            let places = files.isEmpty ? loaded.configuration.audit.file.map { [$0] } ?? [] : files
            guard !places.isEmpty else {
                throw CommandFailure("audit.file is off: name the log's file, or set it", status: .misused)
            }
            var found = 0
            for file in places {
                try AuditLines.each(in: file) { line in
                    // Most lines are of other requests, and need not be parsed.
                    guard let object = try? StrictJSON.object(line),
                        object["request_id"]?.stringValue?.hasSameBytes(as: requestID) == true
                    else { return }
                    found += 1
                    for text in Self.texts(object, loaded) { Terminal.answer(TerminalText.escaped(text)) }
                }
            }
            guard found > 0 else {
                throw CommandFailure("the audit log has no request \(TerminalText.escaped(requestID))")
            }
        }

        /// What a line says, and where the configuration decides about it.
        private static func texts(_ line: JSONObject, _ loaded: LoadedConfiguration) -> [String] {
            let text = { (name: String) in line[name]?.stringValue ?? "" }
            let shown = [
                "code", "reason", "client", "method", "path", "user_id", "tenant_id", "client_id", "session", "fid",
            ].compactMap { name in line[name]?.stringValue.map { "\(name)=\($0)" } }
            var texts = ["\(text("time")) \(text("event")) \(shown.joined(separator: " "))"]
            guard text("event") == "request.refused" else { return texts }
            let route = route(of: line, loaded)
            if let route { texts.append("  route: \(describe(loaded.configuration.routes[route], route, loaded))") }
            let why = RefusalAdvice.explain(
                .init(code: text("code"), reason: text("reason"), path: text("path")), route: route, loaded)
            texts.append("  failed check: \(why.check)")
            if let key = why.key {
                let place = why.file.map { file in " (\(file):\(why.line ?? 1))" } ?? " (default)"
                texts.append("  decided by: \(key)\(place)")
            }
            return texts
        }

        /// The index of a refused request's route in the present configuration; nil if there is none.
        private static func route(of line: JSONObject, _ loaded: LoadedConfiguration) -> Int? {
            if let path = line["route"]?.stringValue {
                return RefusalAdvice.route(
                    path: path, host: line["route_host"]?.stringValue, method: line["method"]?.stringValue, loaded)
            }
            // Older versions did not write the route: the one that covers the path, for any host.
            let path = Array((line["path"]?.stringValue ?? "").utf8)
            guard
                case .route(let route) = RouteTable(loaded.configuration.routes)
                    .match(path: path, host: [], method: Array("GET".utf8))
            else { return nil }
            return route.index
        }

        /// A route in one line: path, host, methods, where it is configured, and what it requires.
        private static func describe(
            _ route: RouteConfiguration, _ index: Int, _ loaded: LoadedConfiguration
        ) -> String {
            let host = route.host.map { " of \($0)" } ?? ""
            let methods = route.methods.map { " for \($0.joined(separator: " "))" } ?? ""
            let place = loaded.place(of: "routes[\(index)]")
            return "\(route.path)\(host)\(methods) (\(place)), require: \(route.require.rawValue)"
        }
    }
}
