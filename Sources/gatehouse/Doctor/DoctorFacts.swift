import StateSurface

/// What was seen of a deployment. Judging it needs nothing else.
struct DoctorFacts: Sendable {
    /// A file or directory.
    struct Entry: Sendable, Equatable {
        let path: String
        /// The permissions, the lowest nine bits.
        let mode: UInt32
        /// Whether this process may read it.
        let isReadable: Bool
    }

    /// `keys.directory`.
    struct Keys: Sendable {
        /// Nil if it does not exist.
        var directory: Entry?
        /// The PEM files in it, and the index.
        var files: [Entry] = []
    }

    /// What asking the store led to.
    enum Store: Sendable {
        case missing(path: String)
        case failed(String)
        case seen(StoreInspection)
    }

    /// A leaf certificate.
    struct Certificate: Sendable {
        var names: [String]
        /// Seconds since the Unix epoch.
        var notBefore: Int64
        var notAfter: Int64
    }

    /// What a server answered, or why it did not.
    enum Answer: Sendable {
        case failed(String)
        case answered(status: Int, body: [UInt8])
    }

    /// A server that the gateway needs.
    struct Neighbour: Sendable {
        enum Kind: Sendable, Equatable {
            /// Something that is connected to; nothing is sent.
            case connection
            /// A document that names this issuer.
            case discovery(issuer: String)
            /// A key set.
            case keySet
        }
        let check: String
        /// The key of the configuration that names it.
        let key: String
        /// Its URL or address, without secrets.
        let target: String
        let kind: Kind
        var answer: Answer
    }

    /// The running gateway, asked through its admin listener.
    struct Gateway: Sendable {
        /// The status of `/readyz`.
        var readiness: Int
        /// Samples of `/metrics` by name and labels.
        var samples: [String: Double]

        /// The sum of a metric over its labels; nil if it is not there.
        func value(_ name: String) -> Double? {
            let found = samples.filter { $0.key == name || $0.key.hasPrefix(name + "{") }
            return found.isEmpty ? nil : found.values.reduce(0, +)
        }
    }

    /// Room on the disk of things that grow.
    struct Disk: Sendable {
        /// The keys of the configuration that name what is on it.
        var keys: [String]
        /// The number that the system has for it.
        let device: UInt64
        /// A directory on it.
        let path: String
        /// Bytes.
        let free: UInt64
        let total: UInt64
    }

    /// The audit log.
    enum Audit: Sendable {
        case off
        case missing(path: String)
        case unreadable(String)
        case broken(String)
        case whole(lines: Int64)
    }

    /// The addresses of the last requests, from the access log or the audit log.
    struct Callers: Sendable {
        var seen = 0
        var commonest = ""
        var ofCommonest = 0
    }

    /// Unix milliseconds.
    var now: Int64
    /// The file of the configuration; nil if there is none.
    var file: Entry?
    var keys = Keys()
    var store: Store
    /// The leaf of `server.tls.certificate`; nil without TLS.
    var certificate: Certificate?
    /// What `<issuer>/.well-known/oauth-authorization-server` answered; nil if it was not asked.
    var issuer: Answer?
    /// Nil if no gateway answers at `server.admin`.
    var gateway: Gateway?
    var neighbours: [Neighbour] = []
    var disks: [Disk] = []
    var audit = Audit.off
    var callers = Callers()
}
