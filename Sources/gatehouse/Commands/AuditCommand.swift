import ArgumentParser
import Glibc

/// `gatehouse audit`: checks the audit log, and looks up requests in it.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Checks the audit log, and looks up requests in it.",
        subcommands: [Verify.self, Why.self])

    /// `audit verify`: exits with status 1 at the first line that breaks the chain, which it names as `FILE:LINE`, and
    /// for a file that can't be read.
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Checks every line of an audit log against the one before it.",
            discussion: """
                Prints how many lines are good, and the hash of the last. Keep that hash elsewhere: a log whose end was \
                cut off is still a good chain, only a shorter one. Several files are those of a log that was rotated, the \
                oldest first. Exits 1 where the chain breaks.
                """)

        @Argument(help: "The audit log, or its files, the oldest first.")
        var files: [String]

        /// Refuses an empty path as wrong usage.
        func validate() throws { for file in files { try StateOptions.requireGiven(file, as: "the path of a file") } }

        func run() throws {
            var verification = AuditVerification()
            for file in files {
                verification.beginFile()
                do {
                    try check(file, &verification)
                } catch let error as AuditVerification.Break {
                    throw CommandFailure("\(file):\(error.line): the chain breaks: \(error.reason)")
                }
            }
            Terminal.answer("ok: lines: \(verification.lines), head: \(verification.head)")
        }

        /// Reads one file in pieces of 64 KiB, so that a log of any size takes little memory. Throws
        /// `AuditVerification.Break` at the first broken line, and ``CommandFailure`` if the file can't be read.
        private func check(_ file: String, _ verification: inout AuditVerification) throws {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw CommandFailure("\(file): \(FileBytes.reason(errno))") }
            defer { close(descriptor) }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(descriptor, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw CommandFailure("\(file): \(FileBytes.reason(errno))") }
                if count == 0 { break }
                try verification.update(chunk.prefix(count))
            }
            try verification.finish()
        }
    }
}
