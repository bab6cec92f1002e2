import IdentityProviders
import NIOHTTP1
import StateSurface
import Webhooks

/// Sends an event to a receiver: one POST of a signed token (RFC 8935), without redirects, within five seconds, to an
/// address that may be connected to. Keeps nothing between two attempts; may be used by several tasks at once.
struct EventSender: Sendable {
    /// The longest time for an attempt, in milliseconds.
    static let timeout: Int64 = 5_000
    /// The longest answer that is read; what it says does not matter.
    static let maximumAnswerBytes = 256 * 1024

    /// Judges the addresses of receivers, and follows no redirect.
    let fetch: GuardedFetch
    /// The token of an event for an audience, signed with the key that is active now.
    let sign: @Sendable (_ event: WebhookEvent, _ audience: String) throws -> String

    /// Sends a delivery once. The token is signed anew for each attempt, so one that waited for days has a signature
    /// that can be checked.
    ///
    /// - Parameter delivery: as it is stored. One that can't be read is given up.
    /// - Returns: what the answer means, and what to write in the log if it was not taken.
    func send(_ delivery: DeliveryRecord, to receiver: EventReceivers.Receiver) async -> (ReceiverVerdict, String) {
        guard let url = EndpointURL(receiver.name),
            let event = WebhookEvent(id: delivery.eventID, stored: delivery.payload)
        else { return (.gone, "unreadable") }
        let token: String
        do {
            token = try sign(event, receiver.name)
        } catch {
            return (.retry(after: nil), "not signed")
        }
        let request = ProviderRequest(
            .post, url,
            headers: [
                ("content-type", SecurityEventToken.mediaType), ("accept", "application/json"),
                (SecurityEventToken.idField, event.id), ("user-agent", "gatehouse"),
            ], body: Array(token.utf8), addresses: AddressGuard(allowsPrivate: receiver.allowsPrivate))
        do {
            let answer = try await fetch.send(request, limit: Self.maximumAnswerBytes, timeout: Self.timeout)
            let verdict = ReceiverVerdict(
                status: answer.status, retryAfter: answer.headers.first(name: "retry-after"))
            return (verdict, "status \(answer.status)")
        } catch {
            return (ReceiverVerdict(status: nil), error.reason.rawValue)
        }
    }
}
