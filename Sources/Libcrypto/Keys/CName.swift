/// A C string of which libcrypto keeps the pointer.
///
/// It is a literal, which is valid as long as the process runs. The pointer of a Swift string that is passed to a C
/// function is valid only until the call returns.
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
