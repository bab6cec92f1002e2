import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Asks servers, each once: at most 3 seconds to connect, 5 seconds in all, 1 MiB of body, no redirects.
enum DoctorFetch {
    /// Sends a GET. The URL may be `http+unix://`. Any status is an answer.
    static func get(_ url: String) async -> DoctorFacts.Answer {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(3)
        configuration.httpVersion = .http1Only
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer: DoctorFacts.Answer
        do {
            var request = HTTPClientRequest(url: url)
            // The client names no host for a Unix socket, and HTTP/1.1 wants one (RFC 9112 section 3.2).
            if url.hasPrefix("http+unix:") { request.headers.add(name: "Host", value: "localhost") }
            let response = try await client.execute(request, timeout: .seconds(5))
            let body = try await response.body.collect(upTo: 1 << 20)
            answer = .answered(status: Int(response.status.code), body: Array(body.readableBytesView))
        } catch {
            answer = .failed(reason(error))
        }
        try? await client.shutdown()
        return answer
    }

    /// Connects, and closes at once. A connection counts as an answer with status 0.
    static func connect(_ target: DoctorTarget) async -> DoctorFacts.Answer {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connectTimeout(.seconds(3))
        do {
            let channel =
                switch target {
                case .host(let host, let port): try await bootstrap.connect(host: host, port: port).get()
                case .path(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
                }
            try? await channel.close()
            return .answered(status: 0, body: [])
        } catch {
            return .failed(reason(error))
        }
    }

    /// An error in words that have no secret.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first { return reason(first.error) }
            return "its name can't be resolved"
        case let error as IOError: return FileBytes.reason(error.errnoCode)
        case let error as ChannelError:
            if case .connectTimeout = error { return "no connection within 3 s" }
            return "no connection"
        case let error as HTTPClientError:
            return error == .connectTimeout || error == .deadlineExceeded ? "no answer in time" : error.shortDescription
        case is NIOSSLError, is BoringSSLError: return "its certificate is not trusted, or TLS failed"
        case is NIOTooManyBytesError: return "it answers with more than 1 MiB"
        default: return "no answer"
        }
    }
}
