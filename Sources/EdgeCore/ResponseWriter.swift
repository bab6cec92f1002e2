import Answers
import HTTPWire
import NIOCore

/// The answering side of a connection, for the exchange that holds the current request.
///
/// Order of calls: any number of `sendInterim`, one `startResponse`, any number of `sendBody`, one `finishResponse`;
/// or `abortResponse` at any point. Calls after the client has gone do nothing.
package protocol ResponseWriter: AnyObject {
    /// The client's channel.
    var channel: any Channel { get }
    var eventLoop: any EventLoop { get }
    /// For the time limits of the exchange, which cancels it when it is over.
    var exchangeDeadline: ConnectionDeadline { get }
    /// The time limits of the loop.
    var deadlines: DeadlineWheel { get }
    /// The current time in the format of `Date`.
    var date: String { get }
    /// Whether the client's channel takes more bytes now.
    var isClientWritable: Bool { get }
    /// Whether any 2xx would tell a client that its upgrade was accepted, as over HTTP/2 (RFC 8441 section 5).
    var opensTunnelOnSuccess: Bool { get }
    /// Whether field values may be any bytes. Over HTTP/2 they have to be text; other values could not be sent
    /// unchanged.
    var takesAnyBytes: Bool { get }
    /// How the client's connection sends fields, which heads have to be made for.
    var answerForm: AnswerFields.Form { get }
    /// Begins the answer.
    ///
    /// - Parameter head: without the fields that frame the body and `Connection`, which the connection adds.
    func startResponse(_ head: consuming AnswerHead, framing: ResponseFraming)
    /// Sends a part of the body.
    func sendBody(_ bytes: ByteBuffer)
    func flushResponse()
    func finishResponse()
    /// Ends the connection (over HTTP/2: the stream, with CANCEL) without completing the answer.
    func abortResponse()
    /// Tells the client that no more of the answer comes, before it is aborted, where one call to the kernel does it:
    /// over plain TCP with nothing left to send. ``abortResponse()`` has to follow.
    ///
    /// - Returns: false where nothing was told.
    func endSending() -> Bool
    /// Sends a 1xx answer.
    func sendInterim(_ head: AnswerHead, isContinue: Bool)
    /// Answers with a problem, if no answer has begun; otherwise aborts.
    func respond(_ problem: Problem)
    /// Stops the flow of the request's body.
    func pauseBody()
    /// Lets the request's body flow again.
    func resumeBody()
    /// Whether the connection has failed, and was not closed properly.
    var wasReset: Bool { get }
    /// Answers with `head`, which has status 101 and over HTTP/2 is sent with 200, and gives the connection's bytes to
    /// `tunnel` from here on.
    ///
    /// - Parameter first: the first bytes in the tunnel, sent with the head.
    func switchProtocols(_ head: AnswerHead, first: ByteBuffer?, to tunnel: any Tunnel)
    /// Writes to the channel as its pipeline would, but without going through it.
    func writeTunnel(_ bytes: ByteBuffer)
    /// Flushes what was written that way, once the loop has processed everything that has arrived.
    func flushTunnel()
    /// Flushes it at once.
    func flushTunnelNow()
    /// A connection to an upstream will be asked: `HOST:PORT`, or `unix:` and a path.
    func upstreamAsked(_ place: String)
    /// An upstream could not be connected to.
    func upstreamNotReached(_ place: String)
    /// The head of the upstream's answer has arrived.
    func upstreamAnswered()
}

extension ResponseWriter {
    package func switchProtocols(_ head: AnswerHead, to tunnel: any Tunnel) {
        switchProtocols(head, first: nil, to: tunnel)
    }
    package func endSending() -> Bool { false }
    package func upstreamAsked(_ place: String) {}
    package func upstreamNotReached(_ place: String) {}
    package func upstreamAnswered() {}
}
