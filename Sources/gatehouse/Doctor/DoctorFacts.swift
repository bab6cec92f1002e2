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

    /// What inspecting the store has shown.
    enum Store: Sendable {
        /// The file of an embedded store does not exist.
        case missing(path: String)
        /// It can't be reached or read, for this reason.
        case failed(String)
        /// It was inspected.
        case seen(StoreInspection)
    }

    /// A leaf certificate.
    struct Certificate: Sendable {
        /// Host names and addresses that it is for.
        var names: [String]
        /// Seconds since the Unix epoch.
        var notBefore: Int64
        /// The end of its validity, in seconds since the Unix epoch.
        var notAfter: Int64
    }

    /// What a server answered, or why it did not.
    enum Answer: Sendable {
        /// There was no answer, for this reason.
        case failed(String)
        /// The status and the body; status 0 if a connection was all that was asked for.
        case answered(status: Int, body: [UInt8])
    }

    /// A server that the gateway needs.
    struct Dependency: Sendable {
        /// How it is asked.
        enum Kind: Sendable, Equatable {
            /// A server that is connected to; nothing is sent.
            case connection
            /// A document that names this issuer.
            case discovery(issuer: String)
            /// A key set.
            case keySet
        }
        /// The name of the check in the report.
        let check: String
        /// The key of the configuration that names it.
        let key: String
        /// Its URL or address. What the report shows of it has no secrets.
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

    /// The room on a disk that holds something that grows: the store, the audit log, the access log.
    struct Disk: Sendable {
        /// The keys of the configuration that name what is on it.
        var keys: [String]
        /// The number of the device, as `stat` gives it.
        let device: UInt64
        /// A directory on it.
        let path: String
        /// Bytes.
        let free: UInt64
        let total: UInt64
    }

    /// The audit log.
    enum Audit: Sendable {
        /// `audit.file` is not set.
        case off
        /// The file does not exist yet.
        case missing(path: String)
        /// It can't be read, or is too large to be read here.
        case unreadable(String)
        /// The chain breaks, at this line.
        case broken(String)
        /// The chain is whole, and has this many lines.
        case whole(lines: Int64)
    }

    /// The addresses of the last requests, from the access log or the audit log.
    struct Callers: Sendable {
        /// How many requests were looked at.
        var seen = 0
        /// The address that most of them came from.
        var commonest = ""
        /// How many came from that address.
        var ofCommonest = 0
    }

    /// Unix milliseconds.
    var now: Int64
    /// The file of the configuration; nil if there is none.
    var file: Entry?
    /// The files that hold one secret each, with the keys that name them.
    var secretFiles: [(key: String, entry: Entry)] = []
    var keys = Keys()
    var store: Store
    /// The leaf of `server.tls.certificate`; nil without TLS.
    var certificate: Certificate?
    /// What `<issuer>/.well-known/oauth-authorization-server` answered; nil if it was not asked.
    var issuer: Answer?
    /// Nil if no gateway answers at `server.admin`.
    var gateway: Gateway?
    var dependencies: [Dependency] = []
    var disks: [Disk] = []
    var audit = Audit.off
    var callers = Callers()
}
