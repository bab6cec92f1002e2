import Foundation
import HostileTokens
import JOSE

/// The address of the target, parsed from a URL and checked before anything is sent.
struct AttackAim {
    let host: String
    let port: Int
    let origin: String
    let path: String?
    let isSecure: Bool

    init(_ text: String, path: String?) throws(CommandFailure) {
        guard let url = URLText(text), url.userInformation == nil, url.fragment == nil, !url.host.isEmpty else {
            throw CommandFailure("\(URLText.redacted(text)): not a URL: write http://HOST:PORT", status: .misused)
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
        self.path = path ?? (url.path.isEmpty || url.path == "/" ? nil : url.path)
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

    /// Fetches the key set that was named, or else the target's default one; nil if the default one does not exist.
    static func fetch(_ named: String?, aim: AttackAim, sender: RawSender, anywhere: Bool) async throws -> [UInt8]? {
        guard let named else { return await usual(aim, sender) }
        guard let url = URLText(named) else {
            throw CommandFailure("\(URLText.redacted(named)): not a URL: name the key set's", status: .misused)
        }
        let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        _ = try Endpoint(host: host, port: Int(url.port ?? 443), anywhere: anywhere)
        return try await KeyFetch.fetch(named, limit: limit)
    }

    private static func usual(_ aim: AttackAim, _ sender: RawSender) async -> [UInt8]? {
        let path = "/.well-known/jwks.json"
        let text = "GET \(path) HTTP/1.1\r\nHost: \(aim.authority)\r\nConnection: close\r\n\r\n"
        if let answer = try? await sender.send(RawRequest(bytes: Array(text.utf8))), answer.status == 200,
            answer.content.count <= limit
        {
            return answer.content
        }
        Terminal.notice(
            "no key set at \(aim.origin)\(path): attacks that need the public key are left out; name one with --jwks")
        return nil
    }
}
