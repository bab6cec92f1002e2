/// Finds the key that was probably meant by a mistyped one.
enum NearestKey {
    /// The candidate with the smallest edit distance from `key`; the first of several.
    static func nearest(to key: String, among candidates: [String]) -> String? {
        candidates.map { (name: $0, distance: distance(key, $0)) }.min { $0.distance < $1.distance }?.name
    }

    /// The Damerau-Levenshtein distance (edits and swaps of neighbours) over the first 128 bytes.
    static func distance(_ a: String, _ b: String) -> Int {
        let first = Array(a.utf8.prefix(128))
        let second = Array(b.utf8.prefix(128))
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for (row, byte) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                let substituted = last[column] + (byte == other ? 0 : 1)
                var best = min(last[column + 1] + 1, current[column] + 1, substituted)
                if row > 0, column > 0, byte == second[column - 1], first[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}
