import Runtime
import SecurityGuard

/// What a request was found to be allowed as. Only the gate makes one with a permit in it.
package struct Admitted: Sendable {
    package var principal: Principal?
    package var permit: Permit?

    package static let anyone = Admitted()
}
