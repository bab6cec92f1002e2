extension Duration {
    /// How long what must come is waited for. It comes at once, or within the second that is promised; the machine that
    /// runs the tests may be slow and busy with others.
    static let patience = Duration.seconds(RawSocket.patience)

    /// The most that may be measured of what takes a second where nothing else runs. It is far less than what would end
    /// the same thing otherwise: an expiry, a time limit, an upstream that has nothing more to say.
    static let promptly = Duration.seconds(10)
}

extension Double {
    /// ``Swift/Duration/promptly`` in seconds.
    static let promptly = Duration.promptly / .seconds(1)
}
