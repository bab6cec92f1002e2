import Answers
import Gate
import Leases
import NIOCore

extension RelayExchange {
    /// What the exchange has to know about the upgrade.
    package struct Terms {
        /// The head of the upgrade as the upstream gets it. With all fields and the empty line; see
        /// ``ForwardedHead/upgrade(protocols:)``.
        package var head: ByteBuffer
        /// How long the upstream may take to connect, to begin its answer, and between two parts of it. It is the
        /// `timeout` of the route and does not apply to the socket.
        package var timeout: TimeAmount
        /// `Sec-WebSocket-Accept` as the client's key demands it.
        package var accept: String
        /// Whether the gateway answers CORS questions on this route.
        package var ownsCORS: Bool
        /// What admitted the upgrade. When those credentials end, the socket ends.
        package var admission: Admission
        /// The configured limits of a socket's life.
        package var leaseBounds: LeaseBounds
        /// When the upgrade was admitted, in ms since the epoch.
        package var admittedAt: Int64
        /// The socket's reservation; nil where it is not counted.
        package var reservation: SocketReservation?
        /// Refuses the upgrade, in the form that the configuration asks for.
        package var refuse: (Problem) -> Void
        /// The subprotocol to answer with when the upstream chose none itself. Browsers fail a handshake that names
        /// none of the protocols they offered (WHATWG WebSockets).
        package var ownProtocol: String?

        /// The terms of an upgrade, by default of one that is not counted and for which the gateway answers no
        /// subprotocol.
        package init(
            head: ByteBuffer, timeout: TimeAmount, accept: String, ownsCORS: Bool, admission: Admission,
            leaseBounds: LeaseBounds, admittedAt: Int64, reservation: SocketReservation? = nil,
            ownProtocol: String? = nil,
            refuse: @escaping (Problem) -> Void
        ) {
            self.refuse = refuse
            self.head = head
            self.timeout = timeout
            self.accept = accept
            self.ownsCORS = ownsCORS
            self.admission = admission
            self.leaseBounds = leaseBounds
            self.admittedAt = admittedAt
            self.reservation = reservation
            self.ownProtocol = ownProtocol
        }

        /// nil for an open route.
        var lease: LeaseTerms? { admission.leaseTerms(leaseBounds, now: admittedAt) }
    }
}
