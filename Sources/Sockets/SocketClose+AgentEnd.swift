import Leases
import Runtime

extension SocketClose {
    /// How an agent's socket is closed when the Runtime has ended its part of the connection.
    init(_ end: AgentEnd) {
        switch end {
        case .sessionEnded: self = LeaseEnd.sessionEnded.close
        case .permitOutgrown: self = LeaseEnd.tokenRevoked.close
        case .fellBehind: self = .overloaded
        }
    }
}
