import Foundation
import Runtime
import Testing

/// A caller of the Runtime's tools (`runtime.mcp`), with a token for `/mcp`.
struct ToolCaller {
    static let on = "runtime: {mcp: true}\nclients: {registration: true}\nlimits: {enabled: false}"
    static let accept = ("Accept", "application/json, text/event-stream")

    var gateway: GatewayInProcess
    let token: String

    /// - Parameter issuer: `tokens.issuer`, where it is not where the gateway listens.
    init(_ gateway: GatewayInProcess, _ person: LoggedIn, issuer: String? = nil) throws {
        self.gateway = gateway
        token = try Agent(gateway, issuer: issuer).tokens(person).access
    }

    func post(_ body: String, _ headers: [(String, String)] = []) throws -> RawResponse {
        try gateway.request(
            "POST", "/mcp",
            headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"), Self.accept]
                + headers,
            body: body)
    }

    /// Begins a session, and returns the fields that name it.
    func begin(version: String = "2025-11-25") throws -> [(String, String)] {
        let answer = try post(
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"\#(version)","#
                + #""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#)
        let result = answer.json["result"] as? [String: Any]
        #expect(answer.status == 200 && result?["protocolVersion"] as? String == version, "\(answer.text)")
        return [("Mcp-Session-Id", try #require(answer["mcp-session-id"])), ("MCP-Protocol-Version", version)]
    }

    /// The message that calls a tool.
    static func call(_ id: String, _ name: String = "echo", _ arguments: String = #"{"a":1}"#) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(name)","arguments":\#(arguments)}}"#
    }

    /// A connection on which this was asked, to read the stream that answers: a message, or nil for the session's
    /// stream.
    func stream(
        _ session: [(String, String)], _ more: String = "", message: String? = nil,
        accept: String = "application/json, text/event-stream"
    ) throws -> RawSocket {
        // An unknown call is waited for, for a few seconds.
        let socket = try RawSocket(port: gateway.port, timeoutSeconds: 30)
        let fields = session.map { "\($0.0): \($0.1)\r\n" }.joined()
        let type = message.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
        try socket.send(
            "\(message == nil ? "GET" : "POST") /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n"
                + "\(fields)\(type)Accept: \(accept)\r\n\(more)\r\n\(message ?? "")")
        return socket
    }
}

extension RawSocket {
    /// Reads up to this text, and returns what was read.
    @discardableResult
    func read(through text: String) throws -> String {
        var seen = ""
        while !seen.contains(text) { seen += String(decoding: try read(1), as: UTF8.self) }
        return seen
    }
}
