import EdgeConfiguration
import Encodings
import Glibc
import StateSurface

/// What a command that changes something writes to the audit log, by itself: who ran it (`operator`, the system's user)
/// and what it did.
struct CommandAudit {
    private let file: AuditFile?

    /// Opens the audit log, if the configuration names one: a change that cannot be recorded is not made.
    init(_ configuration: GatewayConfiguration) throws(CommandFailure) {
        file = try configuration.audit.file.map { path throws(CommandFailure) in try AuditRotation.file(of: path) }
    }

    /// Records what was done, and returns when that is on disk.
    func record(_ event: String, _ members: JSONObject) throws(CommandFailure) {
        guard let file else { return }
        var line: JSONObject = ["event": .string(event), "operator": .string(Self.operatorName)]
        for (name, value) in AuditScrub.clean(members).members { line[name] = value }
        try file.append([(SystemClock.milliseconds(), line)])
    }

    /// Records that a client was added.
    func record(added client: ClientRecord) throws(CommandFailure) {
        try record(
            "client.added", ["client_id": .string(client.clientID), "tenant_id": .string(client.tenantID)])
    }

    /// The name of the user that runs this process; its number where it has none. Behind sudo, the user who called it.
    static var operatorName: String {
        if getuid() == 0, let caller = getenv("SUDO_USER").map({ String(cString: $0) }), !caller.isEmpty {
            return String(caller.prefix(64))
        }
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "uid:\(getuid())" }
        return String(cString: name)
    }
}
