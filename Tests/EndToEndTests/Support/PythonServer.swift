import Foundation

/// An identity provider of Python's that prints where it is, for as long as a test holds it.
final class PythonServer: Sendable {
    let process: Process
    let issuer: String

    init(_ arguments: [String]) throws {
        let started = try Program.start("python3", arguments)
        process = started.process
        issuer = try Program.line(started.output)
    }

    // A program that inherits blocked signals is not ended by SIGTERM.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// `oidc-provider-mock`, at which everybody is who they say they are.
    static func providerMock() throws -> PythonServer {
        let port = try SocketAddressing.unusedPort()
        let script = """
            import warnings; warnings.simplefilter("ignore")
            import os; os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
            import logging; logging.getLogger("werkzeug").setLevel("ERROR")
            import oidc_provider_mock as mock
            from werkzeug.serving import make_server
            server = make_server("127.0.0.1", \(port), mock.app(), threaded=True)
            print("http://localhost:\(port)", flush=True)
            server.serve_forever()
            """
        return try PythonServer(["-c", script])
    }
}
