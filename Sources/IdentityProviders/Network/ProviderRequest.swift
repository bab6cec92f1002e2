/// A complete request to a provider: sending it takes a connection and adds nothing.
package struct ProviderRequest: Sendable {
    /// The methods that are used.
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// The longest answer that is read, in bytes; a longer one is ``ProviderFault/Reason/tooLarge``.
    package static let maximumAnswerBytes = 256 * 1024
    /// The longest time for one request, in milliseconds.
    package static let timeout: Int64 = 5_000

    /// The method.
    package let method: Method
    /// Where it goes.
    package let url: EndpointURL
    /// Names and values; the values of some are secret, so nothing of a request is ever logged but its URL's host.
    package let headers: [(name: String, value: String)]
    /// The body; empty for GET.
    package let body: [UInt8]
    /// Which addresses may be connected to.
    package let addresses: AddressGuard

    package init(
        _ method: Method, _ url: EndpointURL, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        addresses: AddressGuard
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.addresses = addresses
    }
}

/// Sends a request to a provider.
///
/// Given by the edge, which follows no redirect, connects only to addresses that the request allows, and gives up after
/// `timeout` milliseconds or with the first byte beyond ``ProviderRequest/maximumAnswerBytes``. Throws
/// ``ProviderFault`` with one of the reasons for a fault on the way.
package typealias ProviderFetch =
    @Sendable (_ request: ProviderRequest, _ timeout: Int64) async throws -> ProviderAnswer
