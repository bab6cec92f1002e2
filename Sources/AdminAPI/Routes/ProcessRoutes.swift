import Answers
import Encodings
import Runtime

/// The process: its configuration, upstreams, log level, and reloading.
enum ProcessRoutes {
    static let all = [
        AdminRoute("GET", "config", [], configuration),
        AdminRoute("GET", "upstreams", ["limit", "after"], upstreams),
        AdminRoute("GET", "log-level", [], logLevel),
        AdminRoute("PUT", "log-level", [], setLogLevel),
        AdminRoute("POST", "reload", [], reload),
    ]

    private static func controls(_ call: AdminCall) throws(Problem) -> any OperatorControls {
        guard let controls = call.services.controls else {
            throw Problem(.notFound, detail: "The program around the gateway offers no such thing.")
        }
        return controls
    }

    private static func configuration(_ call: AdminCall) async throws -> AdminAnswer {
        let configuration = try await controls(call).configuration()
        return .json([
            "files": .array(configuration.files.map(JSONValue.string)),
            "values": .array(
                configuration.values.map { value in
                    var entry: JSONObject = [
                        "key": .string(value.key), "value": .string(value.value), "from": .string(value.from),
                    ]
                    if let line = value.line { entry["line"] = .integer(line) }
                    return .object(entry)
                }),
        ])
    }

    private static func upstreams(_ call: AdminCall) async throws -> AdminAnswer {
        let node = call.services.node
        return try await call.list("upstreams") { after, limit in
            try AdminCall.page(await node.upstreams().map(entry), after: after, limit: limit)
        }
    }

    private static func entry(of upstream: UpstreamEntry) -> JSONObject {
        var entry: JSONObject = [
            "route": .string(upstream.route), "upstream": .string(upstream.upstream), "up": .bool(upstream.isUp),
        ]
        if let until = upstream.ejectedUntil { entry["ejected_until"] = .string(Timestamp.text(until)) }
        entry["requests_in_flight"] = .integer(Int64(upstream.requestsInFlight))
        entry["consecutive_failures"] = .integer(Int64(upstream.consecutiveFailures))
        return entry
    }

    // MARK: The log's level

    private static func logLevel(_ call: AdminCall) async throws -> AdminAnswer {
        .json(entry(of: try controls(call).logLevel()))
    }

    private static func setLogLevel(_ call: AdminCall) async throws -> AdminAnswer {
        // The rule of the public API: a body has a type.
        if !call.request.body.isEmpty, call.request.contentType != "application/json" {
            throw Problem(
                .unsupportedMediaType, detail: "Send the body as application/json.", reason: "media_type")
        }
        let body: JSONObject
        do {
            body = try StrictJSON.object(call.request.body)
        } catch {
            throw Problem(.invalidRequest, detail: "The body must be a JSON object.", reason: "body")
        }
        for name in body.names where !["level", "seconds"].contains(name) {
            throw Problem(.unknownMember, detail: "Members here: level, seconds.", reason: "unknown_member")
        }
        let seconds = body["seconds"].map(\.int64Value) ?? 600
        guard let seconds, (1...3_600).contains(seconds) else {
            throw Problem(.invalidRequest, detail: "'seconds' must lie between 1 and 3600.", reason: "seconds")
        }
        guard let level = body["level"]?.stringValue,
            let set = try controls(call).setLogLevel(level, seconds: seconds)
        else {
            throw Problem(
                .invalidRequest, detail: "'level' is one of those that log.level takes.", reason: "level")
        }
        call.record("log_level.changed", ["level": .string(set.level), "seconds": .integer(seconds)])
        return .json(entry(of: set))
    }

    private static func entry(of level: LogLevelEntry) -> JSONObject {
        var entry: JSONObject = ["level": .string(level.level)]
        if let until = level.until { entry["until"] = .string(Timestamp.text(until)) }
        return entry
    }

    // MARK: Reloading

    private static func reload(_ call: AdminCall) async throws -> AdminAnswer {
        let outcome = try await controls(call).reload()
        call.record("configuration.reloaded", ["result": .string(outcome.text)])
        switch outcome {
        case .reloaded(let keys):
            return .json(["result": .string("reloaded"), "need_restart": .array(keys.map(JSONValue.string))])
        case .refused(let why):
            var answer = AdminAnswer.json(["result": .string("refused"), "detail": .string(why)])
            answer.status = 409
            return answer
        }
    }
}
