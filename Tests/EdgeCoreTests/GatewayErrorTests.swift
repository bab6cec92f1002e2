import EdgeConfiguration
import EdgeCore
import Foundation
import NIOCore
import Testing

@Suite("Why a gateway can't start")
struct GatewayErrorTests {
    @Test(
        "A failed bind has a code for each cause, and a sentence that says what to do",
        arguments: [
            (EADDRINUSE, GatewayError.Code.addressInUse, "in use by another process"),
            (EADDRNOTAVAIL, .addressUnavailable, "no address of this machine"),
            (EAFNOSUPPORT, .addressUnavailable, "a kind that this machine does not have"),
            (EACCES, .addressForbidden, "may not be bound by this user"), (EIO, .listenFailed, "can't be listened on"),
        ])
    func binding(number: CInt, code: GatewayError.Code, words: String) {
        let error = GatewayError(
            binding: "a:1", IOError(errnoCode: number, reason: "bind"), choose: "choose another")
        #expect(error.code == code && error.message.hasPrefix("a:1 ") && error.message.contains(words))
        #expect((error.cause as? IOError)?.errnoCode == number)
    }

    @Test("Equality is that of the codes; a key that is put before it changes neither code nor cause")
    func equality() {
        let error = GatewayError(.certificate, "x", cause: IOError(errnoCode: EIO, reason: "read"))
        #expect(error == GatewayError(.certificate, "y") && error != GatewayError(.upstreamTrust, "x"))
        let named = error.about("server.tls")
        #expect(named == error && "\(named)" == "server.tls: x" && named.cause is IOError)
        #expect(error.debugDescription.hasSuffix("at EdgeCoreTests/GatewayErrorTests.swift:\(#line - 4)"))
    }
}
