import Foundation

/// How many orders of events the machines are tried with.
enum Schedules {
    /// `GATEHOUSE_SCHEDULES`, or as many as take a few seconds in a debug build.
    static let count = ProcessInfo.processInfo.environment["GATEHOUSE_SCHEDULES"].flatMap { UInt64($0) } ?? 5_000
}
