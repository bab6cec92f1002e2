import ArgumentParser

/// `--json` and `--limit` of listings.
struct ListingOptions: ParsableArguments {
    @Flag(help: "Answer as one JSON array.")
    var json = false

    @Option(help: "How many at most, newest first.")
    var limit = 1_000

    /// Refuses a limit out of range as wrong usage.
    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must lie between 1 and 100000") }
    }

    /// Prints the rows, and a note if there may be more than `--limit`.
    func show(_ listing: Listing, fetched: Int) {
        listing.show(asJSON: json)
        if fetched == limit { Terminal.notice("there may be more: raise --limit (now \(limit))") }
    }
}
