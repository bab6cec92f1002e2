/// Why a request was refused, in the words of the configuration.
package struct RefusalExplanation: Sendable, Equatable {
    /// The check that failed.
    package var check: String
    /// The key that decides, where there is one.
    package var key: String?
    /// The file and the line where that key was given; nil for a default.
    package var file: String?
    package var line: Int64?

    package init(check: String, key: String? = nil, file: String? = nil, line: Int64? = nil) {
        self.check = check
        self.key = key
        self.file = file
        self.line = line
    }
}
