import NIOCore
import NIOHTTP2

/// The limits for clients of HTTP/2 connections. The client learns them from the first SETTINGS; ``SettingsWait``
/// bridges the time until it has.
struct EdgeHTTP2Settings {
    /// The most streams that a client may have open at a time (RFC 9113 section 5.1.2).
    private static let maxStreams = 128
    /// The longest frame that a client may send, in bytes: SETTINGS_MAX_FRAME_SIZE stays at its default (RFC 9113
    /// section 6.5.2).
    private static let frameLength = 16 * 1024

    /// The longest head that is decoded, in bytes as RFC 9113 section 6.5.2 counts them.
    ///
    /// A head is compressed and can't be skipped, so one that the decoder does not take ends the connection. The
    /// decoder therefore takes longer heads than are allowed: then only the one stream is refused with 431, as over
    /// HTTP/1.1.
    let maxHeaderList: Int

    /// - Parameter maxHeader: the longest head that is allowed, in bytes as HTTP/1.1 writes it.
    init(maxHeader: Int) { maxHeaderList = max(64 * 1024, maxHeader * 4) }

    /// Sets up HTTP/2 on a connection whose TLS handshake chose it.
    ///
    /// - Parameters:
    ///   - goAway: is told of every frame that SwiftNIO writes.
    ///   - stream: makes the pipeline of a new stream.
    ///   - channel: with its TLS already in the pipeline. Called on its event loop.
    /// - Throws: where the pipeline can't be changed, as on a closed channel.
    func configure(
        _ channel: any Channel, _ goAway: GoAwayObserver,
        stream: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) throws {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.maxStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: maxHeaderList),
            HTTP2Setting(parameter: .enableConnectProtocol, value: 1),
        ]
        configuration.connection.maximumSequentialContinuationFrames = maxHeaderList / Self.frameLength + 1
        // The sequence of streams that is returned is dropped, since the closure sets up the streams. Only this way of
        // making the handler takes both a delegate for frames and SwiftNIO's own multiplexer.
        _ = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: nil, frameDelegate: goAway, configuration: configuration,
            streamInitializer: stream)
    }
}
