import Encodings

/// Checks a token against RFC 8725 (JSON Web Token Best Current Practices).
///
/// The signature is not checked, as there is no key.
public enum TokenLint {
    /// The findings of all checks, in the order of the RFC's sections.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - now: seconds since 1970; nil leaves out the comparison of dates with the present.
    public static func findings(_ token: UnverifiedToken, now: Double? = nil) -> [LintFinding] {
        var findings = headerFindings(token.header)
        do throws(TokenRefusal) {
            findings += claimFindings(try token.unverifiedClaims(), now)
        } catch {
            findings.append(finding("payload", "3.7", .fail, error.detail))
        }
        return findings.enumerated().sorted {
            let (left, right) = (order($0.element), order($1.element))
            return left == right ? $0.offset < $1.offset : left < right
        }.map(\.element)
    }

    private static func order(_ finding: LintFinding) -> Int {
        Int(finding.section.dropFirst(2)) ?? 0
    }

    static func finding(
        _ check: String, _ section: String, _ level: LintFinding.Level, _ message: String
    ) -> LintFinding {
        LintFinding(check: check, section: section, level: level, message: message)
    }

    // MARK: Header

    private static func headerFindings(_ header: ProtectedHeader) -> [LintFinding] {
        [
            algorithm(header), pointers(header), keyID(header), compression(header), type(header), critical(header),
        ].compactMap { $0 }
    }

    private static func algorithm(_ header: ProtectedHeader) -> LintFinding {
        guard let algorithm = SignatureAlgorithm(name: header.algorithm) else {
            let isNone = header.algorithm.utf8.elementsEqual("none".utf8) { $0 | 0x20 == $1 }
            return isNone
                ? finding("alg", "3.2", .fail, "alg is none: the token is not signed at all")
                : finding("alg", "3.1", .fail, "alg is not an algorithm that is known here")
        }
        if algorithm.isSymmetric {
            return finding(
                "alg", "3.5", .warn,
                "alg is symmetric: every verifier can also sign, and a weak secret can be guessed from one token")
        }
        if algorithm == .eddsa {
            return finding("alg", "3.1", .warn, "EdDSA names several algorithms (RFC 9864): say Ed25519")
        }
        return finding("alg", "3.1", .ok, "alg is \(algorithm.rawValue)")
    }

    private static func pointers(_ header: ProtectedHeader) -> LintFinding {
        let names = [
            HeaderName.jwk, HeaderName.jwkSetURL, HeaderName.certificateURL, HeaderName.certificateChain,
        ].filter { header.all[$0] != nil }
        return names.isEmpty
            ? finding("key-pointers", "3.10", .ok, "the header brings no key and points to none")
            : finding(
                "key-pointers", "3.10", .warn,
                "the header has \(names.joined(separator: ", ")): a verifier must not follow it")
    }

    private static func keyID(_ header: ProtectedHeader) -> LintFinding {
        guard let keyID = header.keyID else {
            return finding("kid", "3.10", .warn, "no kid: only a verifier with exactly one key can verify it")
        }
        let isPlain =
            !keyID.isEmpty
            && keyID.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_.:=+/@".utf8.contains(byte)
            }
        let climbs = keyID.contains("..") || keyID.hasPrefix("/")
        return isPlain && !climbs
            ? finding("kid", "3.10", .ok, "kid is a plain name")
            : finding("kid", "3.10", .fail, "kid looks like a path, a query or a command rather than a name")
    }

    private static func compression(_ header: ProtectedHeader) -> LintFinding? {
        header.all[HeaderName.compression].map { _ in
            finding("zip", "3.6", .warn, "the header asks for compression, which signed tokens do not have")
        }
    }

    private static func type(_ header: ProtectedHeader) -> LintFinding {
        guard let type = header.type else {
            return finding("typ", "3.11", .warn, "no typ: a token of one kind may be taken for another")
        }
        return MediaType(type).isSame(as: "JWT")
            ? finding("typ", "3.11", .warn, "typ is JWT, which tells no kind of token from another")
            : finding("typ", "3.11", .ok, "typ names a kind of token")
    }

    private static func critical(_ header: ProtectedHeader) -> LintFinding? {
        header.demandsExtension
            ? finding("crit", "3.10", .fail, "the header demands an extension (crit, b64) that is not known here") : nil
    }
}
