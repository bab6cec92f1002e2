import AsyncHTTPClient
import EdgeConfiguration
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

/// Where a connection is made to.
enum DoctorTarget: Sendable, Equatable {
    case host(String, port: Int)
    case path(String)

    /// Reads `http://…`, `https://…` and `unix:/…`; nil for anything else.
    init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            self = .path(String(text.dropFirst("unix:".count)))
            return
        }
        guard let url = URLText(text), url.isHTTP else { return nil }
        let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        self = .host(host, port: Int(url.port ?? (url.scheme == "https" ? 443 : 80)))
    }
}

/// Asks the running gateway through its admin listener.
enum DoctorGateway {
    /// Nil if there is no listener, or nothing answers there.
    static func ask(_ admin: ListenAddress?) async -> DoctorFacts.Gateway? {
        guard let admin else { return nil }
        let origin =
            admin.path.map { "http+unix://\($0.replacing("%", with: "%25").replacing("/", with: "%2F"))" }
            ?? "http://\(ListenAddress(host: reachable(admin.host), port: admin.port))"
        guard case .answered(let readiness, _) = await DoctorFetch.get("\(origin)/readyz"),
            case .answered(200, let text) = await DoctorFetch.get("\(origin)/metrics")
        else { return nil }
        return DoctorFacts.Gateway(readiness: readiness, samples: samples(text))
    }

    /// A listener on all addresses is reached at this machine's own.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    /// Reads the text format of Prometheus; lines that are no samples are skipped.
    static func samples(_ text: [UInt8]) -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            samples[String(line[..<space])] = value
        }
        return samples
    }
}
