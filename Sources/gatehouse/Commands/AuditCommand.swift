import ArgumentParser
import Glibc

/// `gatehouse audit`: checks the audit log.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Checks the audit log.", subcommands: [Verify.self])

    /// `audit verify`.
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Checks every line of an audit log against the one before it.",
            discussion: """
                Prints how many lines are good, and the hash of the last. Keep that hash elsewhere: a log whose end was \
                cut off is still a good chain, only a shorter one. Exits 1 where the chain breaks.
                """)

        @Argument(help: "The audit log.")
        var file: String

        func run() throws {
            let verification: AuditVerification
            do {
                verification = try check()
            } catch let error as AuditVerification.Break {
                throw CommandFailure("\(file):\(error.line): the chain breaks: \(error.reason)")
            }
            Terminal.answer("ok: lines: \(verification.lines), head: \(verification.head)")
        }

        private func check() throws -> AuditVerification {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw CommandFailure("\(file): \(FileBytes.reason(errno))") }
            defer { close(descriptor) }
            var verification = AuditVerification()
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(descriptor, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw CommandFailure("\(file): \(FileBytes.reason(errno))") }
                if count == 0 { break }
                try verification.update(chunk.prefix(count))
            }
            try verification.finish()
            return verification
        }
    }
}
