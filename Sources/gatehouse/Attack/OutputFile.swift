import Glibc

/// A file that a command writes.
struct OutputFile {
    /// A regular file, or a device such as `/dev/stdout`, whose mode is left alone.
    let path: String
    /// Whether only its owner may read it, also if the file was there before.
    var isSecret = false

    /// Checks that the file can be written.
    func check() throws(CommandFailure) {
        close(try descriptor(truncating: false))
    }

    /// Replaces the contents of the file. Throws where it can't be opened or written.
    func write(_ text: String) throws(CommandFailure) {
        let descriptor = try descriptor(truncating: true)
        defer { close(descriptor) }
        guard Terminal.write(text, to: descriptor) else { throw failure("not written: ") }
    }

    /// Opens the file, and makes it if it does not exist. A secret one can be read by its owner alone.
    private func descriptor(truncating: Bool) throws(CommandFailure) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (truncating ? O_TRUNC : 0)
        let descriptor = open(path, flags, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw failure() }
        var facts = stat()
        if isSecret, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG { fchmod(descriptor, 0o600) }
        return descriptor
    }

    /// The failure for `errno`.
    private func failure(_ what: String = "") -> CommandFailure {
        CommandFailure("\(path): \(what)\(FileBytes.reason(errno))", status: .misused)
    }
}
