import Foundation
import HostileTokens
import JOSE

/// The address of the target, or of its key set, parsed from a URL and checked before anything is sent.
struct AttackAim {
    let host: String
    let port: Int
    let origin: String
    /// The path and the query; nil if the URL has neither.
    let path: String?
    let isSecure: Bool

    init(_ text: String, path: String?) throws(CommandFailure) {
        guard let url = URLText(text), url.userInformation == nil, url.fragment == nil, !url.host.isEmpty else {
            throw CommandFailure("\(URLText.withoutValues(text)): not a URL: write http://HOST:PORT", status: .misused)
        }
        guard url.isHTTP else {
            throw CommandFailure(
                "\(url.scheme): attacks go over http and https: write http://HOST:PORT", status: .misused)
        }
        isSecure = url.scheme == "https"
        // An IPv6 address has brackets in the Host field and none for connecting.
        host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        port = Int(url.port ?? (isSecure ? 443 : 80))
        origin = url.origin
        let query = url.query.map { "?" + $0 } ?? ""
        let own = (url.path.isEmpty ? "/" : url.path) + query
        self.path = path ?? (own == "/" ? nil : own)
        guard (self.path ?? "/").hasPrefix("/"), (self.path ?? "/").utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw CommandFailure("--path: it begins with a slash and holds visible ASCII only", status: .misused)
        }
    }

    /// The `Host` field.
    var authority: String { String(origin.dropFirst(isSecure ? "https://".count : "http://".count)) }
}

/// Reads the valid token from the command line, the environment, the profile, or standard input.
enum GoodToken {
    static let variable = "GATEHOUSE_ATTACK_TOKEN"
    private static let patience: TimeInterval = 30

    /// The token from the option, the environment or standard input.
    static func read(_ option: String?) throws -> [UInt8] {
        if let option, option != "-" { return Array(option.utf8) }
        if option == nil, let value = fromEnvironment { return value }
        guard option == "-" || !Terminal.isInteractive else {
            throw CommandFailure(
                "no good token: give --token or --profile, pipe it in, or set \(variable)", status: .misused)
        }
        guard let bytes = try Terminal.input(limit: TokenInput.limit) else {
            throw CommandFailure("more than \(Quantity.size(TokenInput.limit)) on standard input", status: .misused)
        }
        let token = trimmed(bytes)
        guard !token.isEmpty else {
            throw CommandFailure("no good token on standard input: give --token or set \(variable)", status: .misused)
        }
        return token
    }

    static var fromEnvironment: [UInt8]? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    }

    /// The token in a file.
    static func read(file path: String) throws -> [UInt8] {
        guard let bytes = try FileBytes.read(path, limit: TokenInput.limit) else {
            throw CommandFailure("\(path): no such file: 'token.file' names the good token's", status: .misused)
        }
        let token = trimmed(bytes)
        guard !token.isEmpty else { throw CommandFailure("\(path): empty: put the good token there", status: .misused) }
        return token
    }

    /// The token that a command prints within 30 seconds.
    static func read(command: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw CommandFailure("'token.command' can't be run: \(error.localizedDescription)", status: .misused)
        }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + patience)
        timer.setEventHandler { process.terminate() }
        timer.resume()
        defer { timer.cancel() }
        let bytes = try FileBytes.read(
            descriptor: output.fileHandleForReading.fileDescriptor, limit: TokenInput.limit, name: "'token.command'")
        process.terminate()
        process.waitUntilExit()
        guard let bytes, case let token = trimmed(bytes), !token.isEmpty else {
            throw CommandFailure(
                "'token.command' prints no token: it prints the good token and exits", status: .misused)
        }
        return token
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        bytes.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }
}

/// Fetches the keys that the target publishes.
enum PublishedKeys {
    private static let limit = 256 * 1_024

    /// The target's usual key set; nil if there is none.
    static func usual(_ aim: AttackAim, _ sender: RawSender) async -> [UInt8]? {
        let path = "/.well-known/jwks.json"
        if let answer = try? await get(path, aim, sender), answer.status == 200, answer.content.count <= limit {
            return answer.content
        }
        Terminal.notice(
            "no key set at \(aim.origin)\(path): attacks that need the public key are left out; name one with --jwks")
        return nil
    }

    /// The key set that was named.
    ///
    /// - Parameter sender: sends to the host of the URL.
    static func named(_ aim: AttackAim, _ sender: RawSender) async throws(CommandFailure) -> [UInt8] {
        let place = URLText.withoutValues(aim.origin + (aim.path ?? "/"))
        let answer: RawResponse
        do {
            answer = try await get(aim.path ?? "/", aim, sender)
        } catch {
            throw CommandFailure("\(place): can't be fetched: \(error): is the address right?", status: .misused)
        }
        guard answer.status == 200 else {
            throw CommandFailure(
                "\(place): answered \(answer.status), not 200: is the address right?", status: .misused)
        }
        guard answer.content.count <= limit else {
            throw CommandFailure("\(place): larger than \(Quantity.size(limit)): is this a key set?", status: .misused)
        }
        return answer.content
    }

    private static func get(_ path: String, _ aim: AttackAim, _ sender: RawSender) async throws -> RawResponse {
        let text = "GET \(path) HTTP/1.1\r\nHost: \(aim.authority)\r\nConnection: close\r\n\r\n"
        return try await sender.send(RawRequest(bytes: Array(text.utf8)))
    }
}
