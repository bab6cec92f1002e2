import Leases
import Runtime

extension SocketClose {
    /// The Close for an agent's socket when the Runtime has ended its side of the connection.
    init(_ end: AgentEnd) {
        switch end {
        case .sessionEnded: self = LeaseEnd.sessionEnded.close
        case .permitOutgrown: self = LeaseEnd.tokenRevoked.close
        case .fellBehind: self = .overloaded
        }
    }
}
