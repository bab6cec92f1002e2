import EdgeConfiguration
import Encodings
import Experience
import JOSE
import Logging
import Runtime

/// Writes one line per event, as text or as JSON.
struct LineLogHandler: LogHandler {
    let label: String
    let format: GatewayConfiguration.Log.Format
    let clock: @Sendable () -> Int64
    /// Writes a line, which includes its newline.
    let write: @Sendable (String) -> Void

    /// The level of the whole process; nil for one of its own.
    var sharedLevel: SharedLogLevel?
    /// A level that the program set for this logger alone; nil for that of the process.
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    /// - Parameters:
    ///   - clock: milliseconds since the Unix epoch.
    ///   - write: gets complete lines.
    init(
        label: String, format: GatewayConfiguration.Log.Format, clock: @escaping @Sendable () -> Int64,
        sharedLevel: SharedLogLevel? = nil, write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.format = format
        self.clock = clock
        self.sharedLevel = sharedLevel
        self.write = write
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? sharedLevel?.current ?? .info }
        set { ownLevel = newValue }
    }

    /// What is added to every line.
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line; fields without a value are left out.
    func log(event: LogEvent) { write(line(event) + "\n") }

    /// The line of an event, without its newline.
    private func line(_ event: LogEvent) -> String {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        let fields = all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value.description) }
            .filter { !$0.value.isEmpty }
        switch format {
        case .text: return text(event, fields)
        case .json: return json(event, fields)
        }
    }

    /// Time, level and message, then `name=value` for each field.
    private func text(_ event: LogEvent, _ fields: [(name: String, value: String)]) -> String {
        var line =
            "\(Timestamp.text(clock())) \(event.level.rawValue) \(TerminalText.escaped(event.message.description))"
        for (name, value) in fields {
            let isPlain = value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
            line += " \(name)=" + (isPlain ? value : JSONValue.string(TerminalText.escaped(value)).serialized())
        }
        return line
    }

    /// A JSON object.
    private func json(_ event: LogEvent, _ fields: [(name: String, value: String)]) -> String {
        var line: JSONObject = [
            "time": .string(Timestamp.text(clock())), "level": .string(event.level.rawValue),
            "message": .string(event.message.description),
        ]
        for (name, value) in fields where line[name] == nil { line[name] = .string(value) }
        return JSONValue.object(line).serialized()
    }
}

extension LineLogHandler {
    /// Sets up logging for the process as the configuration says.
    ///
    /// - Parameter queue: takes the lines for standard error.
    static func bootstrap(_ log: GatewayConfiguration.Log, level: SharedLogLevel, to queue: LineQueue) {
        LoggingSystem.bootstrap { label in
            LineLogHandler(
                label: label, format: log.format, clock: SystemClock.milliseconds, sharedLevel: level
            ) { line in
                queue.take(line: line)
            }
        }
    }

    /// A line as the log has it, without its newline, for what is written past all levels.
    static func line(
        _ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata,
        format: GatewayConfiguration.Log.Format
    ) -> String {
        let handler = LineLogHandler(label: "gatehouse", format: format, clock: SystemClock.milliseconds) { _ in }
        return handler.line(
            LogEvent(
                level: level, message: message, metadata: metadata, source: nil, file: #fileID, function: #function,
                line: #line))
    }
}
