import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Fetches a URL once, with limits on size and time, and without following redirects.
enum KeyFetch {
    /// Returns the body of an answer with status 200. All others throw.
    static func fetch(_ url: String, limit: Int) async throws -> [UInt8] {
        guard URLText(url)?.isHTTP == true else {
            throw CommandFailure("\(URLText.withoutValues(url)): only http and https can be fetched", status: .misused)
        }
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let body = try await body(of: url, limit: limit, client: client)
            try await client.shutdown()
            return body
        } catch {
            try? await client.shutdown()
            if let failure = error as? CommandFailure { throw failure }
            throw CommandFailure(
                "\(URLText.withoutValues(url)): can't be fetched: \(cause(of: error)): is the address right?",
                status: .misused)
        }
    }

    /// The error in a few words.
    private static func cause(of error: any Error) -> String {
        switch error {
        case let error as IOError: FileBytes.reason(error.errnoCode)
        case let error as HTTPClientError: error.shortDescription
        default: "\(error)"
        }
    }

    /// The body of a 200, of at most `limit` bytes. Throws for any other answer, and after ten seconds.
    private static func body(of url: String, limit: Int, client: HTTPClient) async throws -> [UInt8] {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(10))
        guard response.status.code == 200 else {
            throw CommandFailure(
                "\(URLText.withoutValues(url)): answered \(response.status.code), not 200: is the address right?",
                status: .misused)
        }
        return Array(buffer: try await response.body.collect(upTo: limit))
    }
}
