import Caching
import SecurityGuard

/// The profiles of recent callers that one event loop keeps, so that a request takes no lock for them.
package final class ProfileMemory {
    private struct Remembered {
        let profile: CallerProfile
        /// The changes of the account, and how many there were when the profile was last checked.
        let changes: ChangeCount
        let seen: UInt64
    }

    /// The profiles of all loops.
    package let shared: CallerProfiles
    private var remembered: BoundedCache<String, Remembered>

    /// Creates an empty memory over the profiles of all loops.
    ///
    /// - Parameter byteLimit: the limit on the memory of the profiles, in bytes.
    package init(_ shared: CallerProfiles, byteLimit: Int = 16 << 20) {
        self.shared = shared
        remembered = BoundedCache(capacity: byteLimit)
    }

    /// What memory knows of an account.
    func known(_ userID: String) -> CallerProfiles.Known {
        if let entry = remembered.value(for: userID), entry.changes.value == entry.seen {
            return .current(entry.profile)
        }
        // Read first, so that a change in the meantime is noticed at the next request.
        let changes = shared.changes(of: userID)
        let seen = changes.value
        let known = shared.known(userID)
        if case .current(let profile) = known {
            remembered.insert(
                Remembered(profile: profile, changes: changes, seen: seen), for: userID, weight: profile.weight)
        } else {
            remembered.remove(userID)
        }
        return known
    }
}
