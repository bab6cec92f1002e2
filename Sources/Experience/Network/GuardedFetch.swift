import AsyncHTTPClient
import IdentityProviders
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Sends requests to servers that the gateway does not know: identity providers, issuers, clients' metadata documents.
///
/// No redirect is followed, an answer has a size limit, and all of a request has one time limit. A name is resolved
/// first, every address of it is judged by the request's `AddressGuard`, and the connection is made to an address that
/// was judged: a second answer of DNS changes nothing (DNS rebinding). TLS asks for and verifies the name of the URL.
/// Proxy settings of the environment are not used.
///
/// Requests of one host and address share connections, which are kept for 2 s when idle.
package final class GuardedFetch: Sendable {
    /// What a server answered, whatever its status.
    package struct Answer: Sendable {
        /// A redirect is an answer like any other.
        package let status: Int
        /// The fields as they came; names compare without case.
        package let headers: HTTPHeaders
        /// Complete, and at most as long as the request's limit.
        package let body: [UInt8]
    }

    private let clients: GuardedClients
    private let resolver = HostResolver()

    /// - Parameter roots: the path of a PEM file with roots that are trusted besides the system's; for development.
    /// - Throws: an error of NIOSSL if the file can't be read.
    package init(roots: String? = nil) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let roots { tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(roots))] }
        clients = GuardedClients(tls: tls)
    }

    /// Sends a request once. At most three addresses are tried, one after the other, and the next one only where no
    /// byte of the request was sent.
    ///
    /// - Parameters:
    ///   - request: complete; `Host` and the length of the body are added.
    ///   - limit: the most bytes of the answer's body.
    ///   - timeout: for resolving, connecting, sending and reading together, in milliseconds.
    /// - Throws: `ProviderFault` with `.addressRefused`, `.unreachable`, `.timedOut` or `.tooLarge`.
    package func send(
        _ request: ProviderRequest, limit: Int = ProviderRequest.maximumAnswerBytes, timeout: Int64
    ) async throws(ProviderFault) -> Answer {
        let deadline = NIODeadline.now() + .milliseconds(max(1, timeout))
        let found: [IPAddress]
        if let address = request.url.address {
            found = [address]
        } else {
            found = try await resolver.addresses(of: request.url.host, until: deadline)
        }
        // Every candidate is judged by itself; three are enough to find one that answers.
        let allowed = found.filter(request.addresses.allows).prefix(3)
        guard !allowed.isEmpty else {
            throw ProviderFault(.addressRefused, "\(request.url.host) has no address that may be connected to")
        }
        var fault = ProviderFault(.unreachable, "no connection to \(request.url.host)")
        for address in allowed {
            switch await attempt(request, at: address, limit: limit, deadline: deadline) {
            case .answered(let answer): return answer
            case .failed(let failure): throw failure
            case .notConnected(let failure): fault = failure
            }
        }
        throw fault
    }

    /// Closes all connections. Nothing can be sent afterwards. This does not wait for requests that are under way;
    /// their connections close after them.
    package func shutdown() async { await clients.shutdown() }

    private enum Attempt: Sendable {
        case answered(Answer)
        case failed(ProviderFault)
        /// No byte of the request was sent.
        case notConnected(ProviderFault)
    }

    private func attempt(
        _ request: ProviderRequest, at address: IPAddress, limit: Int, deadline: NIODeadline
    ) async -> Attempt {
        guard let lent = await clients.borrow(host: request.url.host, address: address) else {
            return .failed(ProviderFault(.unreachable, "the gateway is stopping"))
        }
        let outcome = await withTaskGroup(of: Attempt?.self) { tasks in
            tasks.addTask { await Self.exchange(request, lent.client, limit: limit, deadline: deadline) }
            tasks.addTask {
                let rest = deadline - NIODeadline.now()
                try? await Task.sleep(for: .nanoseconds(max(0, rest.nanoseconds)))
                return nil
            }
            let first = await tasks.next() ?? nil
            tasks.cancelAll()
            return first
        }
        await clients.giveBack(lent)
        return outcome ?? .failed(ProviderFault(.timedOut, "\(request.url.host) took too long"))
    }

    private static func exchange(
        _ request: ProviderRequest, _ client: HTTPClient, limit: Int, deadline: NIODeadline
    ) async -> Attempt {
        var message = HTTPClientRequest(url: request.url.text)
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if request.method == .post { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        do {
            let response = try await client.execute(message, deadline: deadline)
            let body = try await response.body.collect(upTo: limit)
            return .answered(
                Answer(
                    status: Int(response.status.code), headers: response.headers, body: Array(body.readableBytesView)))
        } catch is NIOTooManyBytesError {
            return .failed(ProviderFault(.tooLarge, "\(request.url.host) answered with more than \(limit) bytes"))
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            return .failed(ProviderFault(.timedOut, "\(request.url.host) took too long"))
        } catch  where neverConnected(error) {
            return .notConnected(ProviderFault(.unreachable, "no connection to \(request.url.host)"))
        } catch {
            return .failed(ProviderFault(.unreachable, "\(request.url.host) gave no answer"))
        }
    }

    /// Whether an error says that there was no connection, so that another address may be tried.
    private static func neverConnected(_ error: any Error) -> Bool {
        switch error {
        case is NIOConnectionError: true
        case let error as HTTPClientError: error == .connectTimeout
        case let error as ChannelError: if case .connectTimeout = error { true } else { false }
        case let error as IOError:
            [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode)
        default: false
        }
    }
}

extension GuardedFetch {
    /// The function through which an `IdentityProvider` sends its requests. Answers are at most
    /// `ProviderRequest.maximumAnswerBytes` long. Of several `Content-Type` fields none counts.
    package var forProviders: ProviderFetch {
        { [self] request, timeout in
            let answer = try await send(request, timeout: timeout)
            let types = answer.headers["content-type"]
            return ProviderAnswer(
                status: answer.status, contentType: types.count == 1 ? types[0] : nil, body: answer.body)
        }
    }
}
