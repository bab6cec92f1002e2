/// Errors of TLS in words.
package enum TLSFault {
    /// The useful part of an error's description, which also names lines of a library's source.
    package static func words(in description: String) -> String {
        if description.contains("failedToValidateHostname") { return "its certificate is for another name" }
        if description.contains("CERTIFICATE_VERIFY_FAILED") {
            return "its certificate is not trusted (CERTIFICATE_VERIFY_FAILED)"
        }
        if let marker = description.firstRange(of: "OPENSSL_internal:") {
            let word = description[marker.upperBound...].prefix { $0 != " " && $0 != "]" && $0 != ")" }
            return "TLS: \(word)"
        }
        return "TLS: \(description.prefix(100))"
    }
}
