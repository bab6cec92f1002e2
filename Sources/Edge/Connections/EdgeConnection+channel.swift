import EdgeCore
import NIOCore

/// The events of the channel.
extension EdgeConnection {
    /// Registers the connection with its loop, and gives it `server.header_timeout` for its first request.
    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.connections[ObjectIdentifier(self)] = self
        deadline.arm(after: services.headerTimeout, for: self)
        guard loop.isDraining else { return }
        machine.openedWhileDraining()
        act()
    }

    /// Takes it out again.
    package func handlerRemoved(context: ChannelHandlerContext) {
        loop.connections[ObjectIdentifier(self)] = nil
        deadline.cancel()
        exchangeDeadline.cancel()
        self.context = nil
        stream = nil
    }

    /// Bytes of the client, decrypted where there is TLS.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) { received(unwrapInboundIn(data)) }

    /// A burst of reads is over: a tunnel flushes what it has passed on.
    package func channelReadComplete(context: ChannelHandlerContext) {
        tunnel?.receivedAll()
        context.fireChannelReadComplete()
    }

    /// Holds the read back while nothing more can be taken, which is what slows a fast sender down.
    package func read(context: ChannelHandlerContext) {
        if wantsBytes { context.read() } else { isReadPending = true }
    }

    // A tunnel's application writes to the channel. Its bytes must not overtake those that are held.

    /// Writes bytes of a tunnel's application. They are counted in the record.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if tunnel != nil { record.bytesOut += Int64(unwrapOutboundIn(data).readableBytes) }
        if promise == nil {
            write(unwrapOutboundIn(data), to: context)
        } else {
            write(data, promise: promise, to: context)
        }
    }

    /// Hands what was written to the kernel.
    package func flush(context: ChannelHandlerContext) { flushAll(context) }

    /// Lets the tunnel or the exchange go on once the client takes bytes.
    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if isWritable {
            if let tunnel { tunnel.clientBecameWritable() } else { exchange?.clientBecameWritable() }
        }
        context.fireChannelWritabilityChanged()
    }

    /// The channel is closed: everything is released and recorded.
    package func channelInactive(context: ChannelHandlerContext) {
        machine.gone()
        letGo()
        context.fireChannelInactive()
    }

    /// Notices that the client has closed its side, which may keep the other one open (half-closure).
    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { inputClosed() }
        context.fireUserInboundEventTriggered(event)
    }

    /// Gives the connection up, without an answer.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or a TLS fault: the channel can't be used any more, and no answer can reach the client.
        wasReset = true
        machine.gone()
        letGo()
        if origin.isStream { context.close(promise: nil) } else { context.closeWithoutPeer() }
    }
}

extension EdgeConnection: DeadlineHolder {
    /// The time limit that the machine asked for has passed: it decides what ends.
    package func deadlinePassed() {
        machine.deadlinePassed(clientTakes: channel.isWritable)
        act()
    }

    /// The gateway stops: an idle connection is closed now, any other after its answer; a tunnel is ended by its own
    /// rules.
    package func drain() {
        machine.drain()
        if let tunnel { return tunnel.drain() }
        exchange?.gatewayStops()
        act()
    }
}
