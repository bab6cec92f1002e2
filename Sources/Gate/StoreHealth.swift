/// How far the store can be trusted right now, by the age of its feed's last sign of life.
package enum StoreHealth: Sendable {
    /// It answers: memory is up to date.
    case current
    /// It is silent, but not for longer than `state.grace`: verified callers go on, no new session or socket begins.
    case silent
    /// It has been silent for longer than that: nothing that depends on it goes on.
    case lost
}
