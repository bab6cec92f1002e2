import HostileTokens

/// Fetches the keys that the target publishes.
enum PublishedKeys {
    /// The largest key set that is taken, in bytes.
    private static let limit = 256 * 1_024

    /// The target's usual key set; nil if there is none.
    static func usual(_ targetURL: TargetURL, _ sender: RawSender) async -> [UInt8]? {
        let path = "/.well-known/jwks.json"
        if let answer = try? await get(path, targetURL, sender), answer.status == 200, answer.content.count <= limit {
            return answer.content
        }
        Terminal.notice(
            "no key set at \(targetURL.origin)\(path): attacks that need the public key are left out; name one with --jwks"
        )
        return nil
    }

    /// The key set that was named.
    ///
    /// - Parameter sender: sends to the host of the URL.
    static func named(_ targetURL: TargetURL, _ sender: RawSender) async throws(CommandFailure) -> [UInt8] {
        let place = URLText.withoutValues(targetURL.origin + (targetURL.path ?? "/"))
        let answer: RawResponse
        do {
            answer = try await get(targetURL.path ?? "/", targetURL, sender)
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

    /// The answer to a GET without credentials.
    private static func get(_ path: String, _ targetURL: TargetURL, _ sender: RawSender) async throws -> RawResponse {
        let text = "GET \(path) HTTP/1.1\r\nHost: \(targetURL.authority)\r\nConnection: close\r\n\r\n"
        return try await sender.send(RawRequest(bytes: Array(text.utf8)))
    }
}
