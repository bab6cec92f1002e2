import EdgeConfiguration
import Experience
import JOSE
import SecurityGuard
import StateSurface

/// Turns the errors of all modules into lines for the operator.
enum ErrorText {
    /// The failure for an error; nil for errors that are not Gatehouse's, which the argument parser reports.
    static func failure(_ error: any Error) -> CommandFailure? {
        switch error {
        case let error as CommandFailure: error
        case let error as ConfigurationFaults: CommandFailure(error.description, status: .misused)
        case let error as ConfigurationFault: CommandFailure(error.description, status: .misused)
        case let error as GatewayError:
            CommandFailure(error.message, status: isConfiguration(error.code) ? .misused : .failed)
        case let error as ConfigurationError: CommandFailure(error.description, status: .misused)
        case let error as GuardError:
            CommandFailure(error.message, status: isConfiguration(error.code) ? .misused : .failed)
        case let error as AuthError: CommandFailure(text(error))
        case let error as JOSEError: CommandFailure(error.message)
        case let error as StateSurfaceError: CommandFailure(text(error))
        default: nil
        }
    }

    /// Whether the fault is in the configuration, and not in what the gateway finds when it starts.
    private static func isConfiguration(_ code: GatewayError.Code) -> Bool {
        switch code {
        case .algorithmUnknown, .certificate, .upstreamURL, .upstreamTrust, .keySetUnreadable,
            .clientSecretUnreadable:
            true
        case .addressInUse, .addressUnavailable, .addressForbidden, .hostUnknown, .socketPath, .listenFailed,
            .keySetUnavailable:
            false
        }
    }

    /// Whether the fault is in the settings of tokens or in `issuers`, and not in the keys.
    private static func isConfiguration(_ code: GuardError.Code) -> Bool {
        switch code {
        case .issuer, .policy: true
        case .keyFile, .keyPermissions, .keyPassphrase, .keyDirectory, .keyUnknown, .keyState, .foreignKeys: false
        }
    }

    /// A message in one line, with everything escaped that a terminal would interpret.
    static func oneLine(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map { TerminalText.escaped(String($0)) }
        return lines.joined(separator: " ")
    }

    /// The error of an account, with what to do.
    private static func text(_ error: AuthError) -> String {
        switch error.code {
        case .emailTaken: "the tenant has an account with this e-mail: see 'gatehouse users list'"
        case .notFound: "no such account: see 'gatehouse users list'"
        case .invalidRequest, .invalidCredentials, .overloaded, .registrationClosed, .conflict:
            error.detail.isEmpty ? error.code.rawValue : error.detail
        }
    }

    /// The error of the store, with what to do.
    private static func text(_ error: StateSurfaceError) -> String {
        let advice =
            switch error.code {
            case .unavailable: ": is it running, and is state.url (--state) right?"
            case .misconfigured: ": correct state.url (--state)"
            case .full: ": make room where the store lies"
            case .corrupt: ": restore it from a backup, or move it away to begin anew"
            case .duplicate, .failed, .ownerGone: ""
            }
        return "the store: \(error.message)\(advice)"
    }
}
