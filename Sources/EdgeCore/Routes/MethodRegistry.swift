/// The methods that are registered for HTTP.
package enum MethodRegistry {
    /// The methods that `Allow` names where every registered method may be sent.
    package static let usual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// Methods that are never forwarded: TRACE would show a caller the fields that the gateway adds, CONNECT would open
    /// a tunnel.
    static let unforwarded: Set<[UInt8]> = [Array("TRACE".utf8), Array("CONNECT".utf8)]
    /// All other registered methods.
    package static let names: Set<[UInt8]> = Set(
        """
        ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL
        MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH
        UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL
        """.split { $0 == " " || $0 == "\n" }.map { Array($0.utf8) })
}
