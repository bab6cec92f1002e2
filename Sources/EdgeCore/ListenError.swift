import Foundation
import NIOCore

/// Why a listener could not be opened: one sentence that says what to do.
package struct ListenError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

extension ListenError {
    /// What binding an address failed with.
    ///
    /// - Parameter choose: how another address is named.
    package init(binding address: String, _ error: any Error, choose: String) {
        let what: String
        if let code = (error as? IOError)?.errnoCode {
            switch code {
            case EADDRINUSE: what = "is in use by another process: stop it, or \(choose)"
            case EADDRNOTAVAIL: what = "is no address of this machine: \(choose), 0.0.0.0 for all that it has"
            case EAFNOSUPPORT: what = "is of a kind that this machine does not have: \(choose)"
            case EACCES, EPERM: what = "may not be bound by this user: choose a port above 1023"
            default: what = "can't be listened on (\(String(cString: strerror(code)))): \(choose)"
            }
        } else if error is SocketAddressError || error is SocketAddressError.UnknownHost {
            what = "names a host that can't be resolved: \(choose)"
        } else {
            what = "can't be listened on (\(error)): \(choose)"
        }
        self.init(description: "\(address) \(what)")
    }
}
