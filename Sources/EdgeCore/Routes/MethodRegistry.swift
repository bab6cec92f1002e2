/// The methods that are registered for HTTP.
package enum MethodRegistry {
    /// What `Allow` names where anything that is registered may be sent.
    package static let usual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// No proxy forwards these: one would show a caller the fields that the gateway adds, the other open a tunnel.
    static let unforwarded: Set<[UInt8]> = [Array("TRACE".utf8), Array("CONNECT".utf8)]
    /// All others.
    package static let names: Set<[UInt8]> = Set(
        """
        ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL
        MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH
        UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL
        """.split { $0 == " " || $0 == "\n" }.map { Array($0.utf8) })
}
