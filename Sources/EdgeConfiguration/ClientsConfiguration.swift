/// `clients.*`: how clients of agents become known.
public struct ClientsConfiguration: Sendable, Equatable {
    /// `clients.registration`: whether clients may register themselves (RFC 7591).
    public var registration = false
    /// `clients.registration_per_hour`: registrations per address in an hour.
    public var registrationPerHour = 20
    /// `clients.registration_lifetime`: how long a registration is kept that has not been used, in milliseconds.
    public var registrationLifetime: Int64 = 24 * 3_600_000
    /// `clients.allow_private`: whether metadata documents are fetched from private addresses; for development.
    public var allowPrivate = false
    /// `clients.ca`: a PEM file of roots that are trusted for metadata documents besides the system's.
    public var ca: String?

    /// The defaults.
    public init() {}
}
