import Foundation
import Libcrypto

/// The arguments of the command line, with key ids that begin with `-` protected from being parsed as options.
enum CommandArguments {
    /// The length of a `kid`, which is a SHA-256 thumbprint in base64url.
    private static let keyIDLength = 43

    /// The arguments of this process without its name, as the parser gets them; see ``settled(_:)``.
    static func ofProcess() -> [String] { settled(Array(ProcessInfo.processInfo.arguments.dropFirst())) }

    /// Overwrites what is secret in the memory of the arguments, where `ps` finds them. To be called after they were
    /// read.
    static func hideSecrets() { ProcessMemory.hideArguments(behind: shownCount) }

    /// How many bytes of an argument may be shown, if it has a secret: a URL with a password, a token, or a web address
    /// with a query, whose names do not tell which values are secret. Nil if it has none.
    static func shownCount(of argument: String, after previous: String) -> Int? {
        let option = argument.hasPrefix("--") ? argument.firstRange(of: "=").map { argument[..<$0.upperBound] } : nil
        let value = String(argument.dropFirst(option?.count ?? 0))
        let before = option?.utf8.count ?? 0
        let isWeb = ["http://", "https://"].contains { value.lowercased().hasPrefix($0) }
        if (isWeb ? URLText.withoutValues(value) : URLText.redacted(value)) != value {
            return before + (value.firstRange(of: "://").map { value[..<$0.upperBound].utf8.count } ?? 0)
        }
        // `-` is standard input.
        let isToken = value != "-" && (option.map { $0 == "--token=" } ?? (previous == "--token"))
        let isCredential = AuditScrub.clean(value) != value
        return isToken || isCredential ? before : nil
    }

    /// The text of an error without what is secret among the arguments, which it may quote.
    ///
    /// An argument too many may be a password, so it is named by its place, unless it stands where commands do.
    static func withoutSecrets(_ text: String, arguments: [String]) -> String {
        var text = text
        let isSurplus = text.lowercased().contains("unexpected argument")
        // What has the form of a credential is shortened below, so that it can still be told from others.
        for (index, argument) in arguments.enumerated()
        where argument.utf8.count >= leastHidden && AuditScrub.clean(argument) == argument {
            if let shown = shownCount(of: argument, after: index > 0 ? arguments[index - 1] : "") {
                let beginning = String(decoding: argument.utf8.prefix(shown), as: UTF8.self)
                text = text.replacing(argument, with: "\(beginning)…")
            } else if isSurplus, index >= 2, !argument.hasPrefix("-") {
                text = text.replacing("'\(argument)'", with: "number \(index + 1)")
            }
        }
        return AuditScrub.clean(text)
    }

    /// The shortest argument that is hidden, in bytes. A shorter one is not a secret, and replacing it would garble the
    /// message.
    private static let leastHidden = 4

    /// One `kid` in 64 begins with `-` and would be parsed as an option. It is moved behind `--`, after which there are
    /// no options.
    static func settled(_ arguments: [String]) -> [String] {
        guard arguments.starts(with: ["keys", "retire"]), !arguments.contains("--") else { return arguments }
        let place = arguments.indices.dropFirst(2).first { index in
            isDashedKeyID(arguments[index]) && !takesValue(arguments[index - 1])
        }
        guard let place else { return arguments }
        var settled = arguments
        let keyID = settled.remove(at: place)
        return settled + ["--", keyID]
    }

    /// Whether the next argument is the value of this one: an option without `=`.
    private static func takesValue(_ word: String) -> Bool { word.hasPrefix("--") && !word.contains("=") }

    /// Whether a text has the form of a `kid` that begins with `-`.
    private static func isDashedKeyID(_ text: String) -> Bool {
        guard text.hasPrefix("-"), text.utf8.count == keyIDLength else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}
