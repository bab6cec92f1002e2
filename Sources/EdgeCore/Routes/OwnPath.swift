/// A path that the gateway answers itself; these take precedence over routes. ``OwnPaths`` finds them.
package enum OwnPath: Equatable {
    /// The JSON and form endpoints; the path as their router knows it (`/api/sessions…` is `/api/session…`).
    case api(String)
    /// The decision endpoint, with the path appended to it, if any.
    case verify(appended: [UInt8])
    /// The agent socket.
    case agent
    /// The diagnostic echo socket.
    case echo
    /// Anything else under `/api/runtime/`.
    case runtime
}
