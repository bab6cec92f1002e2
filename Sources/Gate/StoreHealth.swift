/// How far the store can be trusted right now, by the age of its feed's last sign of life.
package enum StoreHealth: Sendable {
    /// It answers: memory is true.
    case current
    /// It is silent, but not for longer than `state.grace`: what was verified goes on, nothing new begins.
    case silent
    /// It has been silent for too long: nothing that rests on it goes on.
    case lost
}
