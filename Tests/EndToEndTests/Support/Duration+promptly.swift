extension Duration {
    /// The most that may be measured of what takes a second where nothing else runs. It is far less than what would end
    /// the same thing otherwise: an expiry, a time limit, an upstream that has nothing more to say.
    static let promptly = Duration.seconds(10)
}

extension Double {
    /// ``Swift/Duration/promptly`` in seconds.
    static let promptly = Duration.promptly / .seconds(1)
}
