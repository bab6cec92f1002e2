import ArgumentParser
import Encodings
import StateSurface

/// `gatehouse state`: copies the store, and fills a new one.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Copies the store to a file, and fills a new store from one.",
        subcommands: [Backup.self, Restore.self])

    /// `state backup`: copies the store as it is at one moment. A file of that name is replaced only when the copy is
    /// complete.
    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copies the store, as it is at one moment, to a file; gateways go on meanwhile.",
            discussion: """
                The file has the hashes of passwords and secrets: it is readable for its owner only, keep it so. Signing \
                keys are not in it: back up keys.directory as well.
                """)

        @Argument(help: "The file to write; one of this name is replaced once the copy is complete.")
        var file: String
        @OptionGroup var options: StateOptions

        /// Refuses an empty path as wrong usage.
        func validate() throws { try StateOptions.requireGiven(file, as: "the path of the file") }

        func run() async throws {
            try await options.withStore { store in
                guard let surface = store.surface as? any BackupStore else {
                    throw CommandFailure("this store can't be copied")
                }
                let audit = try store.openAudit()
                let writing = try BackupWriting(file)
                do {
                    try writing.write(
                        BackupFile.header(version: surface.schemaVersion, at: SystemClock.milliseconds()))
                    try await surface.copy { item in
                        let isRow = if case .row = item { true } else { false }
                        try writing.write(BackupFile.line(item), isRow: isRow)
                    }
                    let rows = try writing.finish()
                    try audit.record("state.copied", ["rows": .integer(rows)])
                    Terminal.answer("copied to \(file): rows: \(rows)", isElsewhere: true)
                } catch {
                    writing.abandon()
                    throw error
                }
            }
        }
    }

    /// `state restore`: fills an empty store in one transaction, and makes the store if there is none. Fails for a
    /// damaged file, a store that is not empty, and a copy of a newer version.
    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Fills a new store from a copy.",
            discussion: """
                The store must be empty. Revocations made after the copy are forgotten: rotate the signing keys with \
                --now and retire the old one, so that no token from before is accepted.
                """)

        @Argument(help: "The file that 'gatehouse state backup' has written.")
        var file: String
        @OptionGroup var options: StateOptions

        /// Refuses an empty path as wrong usage.
        func validate() throws { try StateOptions.requireGiven(file, as: "the path of the file") }

        func run() async throws {
            _ = try options.load()
            // Read to its end first: a damaged file is refused before anything is made.
            let check = try BackupReading(file)
            let version = try check.header()
            var rows: Int64 = 0
            while let item = try check.next() { if case .row = item { rows += 1 } }
            let path = file
            try await options.withStore(makes: true) { store in
                guard let surface = store.surface as? any BackupStore else {
                    throw CommandFailure("this store can't be filled")
                }
                let audit = try store.openAudit()
                try await surface.restore(version: version) {
                    let reading = try BackupReading(path)
                    _ = try reading.header()
                    return AnyIterator { () -> Result<BackupItem, any Error>? in
                        do { return try reading.next().map { .success($0) } } catch { return .failure(error) }
                    }
                }
                try audit.record("state.restored", ["rows": .integer(rows)])
                Terminal.answer("restored from \(path): rows: \(rows)", isElsewhere: true)
            }
        }
    }
}
