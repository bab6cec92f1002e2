import EdgeCore

/// Recognises the addresses of this machine.
enum Loopback {
    /// Whether a host of a URL, without brackets, is this machine: `localhost`, or a loopback address.
    static func contains(_ host: String) -> Bool {
        guard let address = IPAddress.bytes(of: host) else { return host == "localhost" }
        return IPAddress.isLoopback(address)
    }
}
