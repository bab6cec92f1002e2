/// The effective configuration.
package struct OperatorConfiguration: Sendable, Equatable {
    /// One key.
    package struct Value: Sendable, Equatable {
        /// The key with its path, such as `server.drain`.
        package var key: String
        /// The value as `config show` writes it.
        package var value: String
        /// `default`, `file`, `environment` or `flag`.
        package var from: String
        /// The line of the file; nil where the value is from elsewhere.
        package var line: Int64?

        package init(key: String, value: String, from: String, line: Int64? = nil) {
            self.key = key
            self.value = value
            self.from = from
            self.line = line
        }
    }

    /// The files that were read.
    package var files: [String]
    /// Every key.
    package var values: [Value]

    package init(files: [String], values: [Value]) {
        self.files = files
        self.values = values
    }
}
