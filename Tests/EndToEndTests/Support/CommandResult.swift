/// What a command of the CLI came to.
typealias CommandResult = (status: Int32, output: String, errors: String)
