import EdgeCore
import HTTPWire

extension RequestHead {
    /// The method for the audit log; nil for one that is not registered, which could be anything a client makes up.
    var registeredMethod: String? {
        let bytes = withBytes(self.method) { Array($0) }
        return MethodRegistry.names.contains(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
