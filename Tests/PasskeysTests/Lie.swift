import Passkeys
import PasskeysForTests
import Testing

/// One lie, and the refusal it has to lead to.
struct Lie: Sendable, CustomTestStringConvertible {
    let name: String
    let expected: PasskeyRefusal
    let tell: @Sendable (inout Authenticator) throws -> Void

    init(_ name: String, _ expected: PasskeyRefusal, _ tell: @escaping @Sendable (inout Authenticator) throws -> Void) {
        self.name = name
        self.expected = expected
        self.tell = tell
    }

    var testDescription: String { name }
}
