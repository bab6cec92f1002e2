import EdgeConfiguration
import Foundation
import NIOCore

extension GatewayError {
    /// The error for an address that could not be bound.
    ///
    /// - Parameter choose: the setting that names another address.
    package init(binding address: String, _ error: any Error, choose: String) {
        let (code, what): (Code, String)
        if let number = (error as? IOError)?.errnoCode {
            (code, what) = Self.refusal(number, choose: choose)
        } else if error is SocketAddressError || error is SocketAddressError.UnknownHost {
            (code, what) = (.hostUnknown, "names a host that can't be resolved: \(choose)")
        } else {
            (code, what) = (.listenFailed, "can't be listened on (\(error)): \(choose)")
        }
        self.init(code, "\(address) \(what)", cause: error)
    }

    private static func refusal(_ number: CInt, choose: String) -> (Code, String) {
        switch number {
        case EADDRINUSE: (.addressInUse, "is in use by another process: stop it, or \(choose)")
        case EADDRNOTAVAIL:
            (.addressUnavailable, "is no address of this machine: \(choose), 0.0.0.0 for all that it has")
        case EAFNOSUPPORT: (.addressUnavailable, "is of a kind that this machine does not have: \(choose)")
        case EACCES, EPERM: (.addressForbidden, "may not be bound by this user: choose a port above 1023")
        default: (.listenFailed, "can't be listened on (\(String(cString: strerror(number)))): \(choose)")
        }
    }
}
