/// A name that libcrypto keeps the address of: a literal, which lives as long as the process.
///
/// A Swift string handed to a C parameter has its address only until the call returns.
struct CName {
    private let literal: StaticString

    init(_ literal: StaticString) {
        precondition(literal.hasPointerRepresentation)
        self.literal = literal
    }

    /// The null-terminated text.
    var pointer: UnsafePointer<CChar> {
        UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    static let pem = CName("PEM")
    static let der = CName("DER")
    static let subjectPublicKeyInfo = CName("SubjectPublicKeyInfo")
    static let privateKeyInfo = CName("PrivateKeyInfo")
}
