import HostileTokens

/// Reads a profile. The first fault is thrown with its line.
struct ProfileReader {
    /// The largest profile that is read, in bytes.
    private static let limit = 256 * 1_024

    /// The profile in a file. Throws a failure that names file and line.
    static func read(_ path: String) throws -> AttackProfile {
        guard let bytes = try FileBytes.read(path, limit: limit) else {
            throw CommandFailure("\(path): no such file: name the profile's file", status: .misused)
        }
        do throws(ConfigurationFault) {
            return try parse(bytes, file: path)
        } catch {
            throw CommandFailure(error.description, status: .misused)
        }
    }

    /// The profile in the bytes of a file; `file` is the name for faults.
    static func parse(_ bytes: [UInt8], file: String) throws(ConfigurationFault) -> AttackProfile {
        guard let root = try FileValue.parse(bytes, file: file), !root.isEmpty else {
            throw ConfigurationFault(place: file, message: "an empty profile: say at least 'path'")
        }
        var profile = AttackProfile()
        let keys = ["token", "second_user", "path", "success", "socket", "promises", "canary", "oauth"]
        for (key, value) in try members(root, "", keys) {
            switch key {
            case "token": try readToken(value, into: &profile)
            case "second_user": profile.secondUser = try secondUser(value)
            case "path": profile.path = try path(value, key)
            case "success": profile.successStatuses = try statuses(value)
            case "socket": profile.socket = try socket(value)
            case "promises": profile.promises = try promises(value)
            case "oauth": profile.oauth = try oauth(value)
            default: profile.canary = try canary(value)
            }
        }
        if profile.carrier == .socketProtocol, profile.socket == nil {
            throw ConfigurationFault(
                place: root.place, key: "token.carrier",
                message: "'subprotocol' travels in a WebSocket: say 'socket', too")
        }
        if let socket = profile.socket, socket.carriers.contains(.socketCookie), socket.cookie == nil,
            profile.carrier != .cookie
        {
            throw ConfigurationFault(
                place: root.place, key: "socket.carriers",
                message: "a cookie needs its name: say 'socket.cookie', or 'token.carrier: cookie'")
        }
        if profile.secondUser != nil, profile.users.isEmpty {
            throw ConfigurationFault(
                place: root.place, key: "second_user", message: "there is no first user: say 'token.login', too")
        }
        return profile
    }

    // MARK: Sections

    /// Where the token comes from and how it is sent.
    private static func readToken(_ value: FileValue, into profile: inout AttackProfile) throws(ConfigurationFault) {
        var sources: [AttackProfile.TokenSource] = []
        for (key, value) in try members(value, "token", ["carrier", "name", "prefix", "command", "file", "login"]) {
            switch key {
            case "carrier": profile.carrier = try carrier(value)
            case "name":
                profile.carrierName = try name(
                    value, "token.name", "expected the name of a field, parameter, cookie or subprotocol")
            case "prefix": profile.carrierPrefix = try visible(value, "token.prefix")
            case "command": sources.append(.command(try text(value, "token.command")))
            case "file": sources.append(.file(try text(value, "token.file")))
            default: sources.append(.login(try login(value, "token.login")))
            }
        }
        guard sources.count <= 1 else {
            throw fault(value, "token", "more than one of 'command', 'file' and 'login': keep one")
        }
        profile.source = sources.first
        // Authorization has a scheme before the token; as the default it is `Bearer`.
        if profile.carrier == .authorization, profile.carrierPrefix == nil,
            profile.carrierName?.lowercased() == "authorization"
        {
            profile.carrierName = nil
        }
        if profile.carrier == .cookie, profile.carrierName == nil {
            throw fault(value, "token", "a cookie needs its 'name'")
        }
    }

    /// The place of the token in a request.
    private static func carrier(_ value: FileValue) throws(ConfigurationFault) -> Transport {
        switch try text(value, "token.carrier") {
        case "header": return .authorization
        case "query": return .query
        case "cookie": return .cookie
        case "body": return .body
        case "subprotocol": return .socketProtocol
        default: throw fault(value, "token.carrier", "expected header, query, cookie, body or subprotocol")
        }
    }

    /// A login: path, e-mail, password and tenant.
    private static func login(
        _ value: FileValue, _ key: String
    ) throws(ConfigurationFault)
        -> AttackProfile.LoginSettings
    {
        var settings = AttackProfile.LoginSettings()
        for (name, value) in try members(value, key, ["path", "email", "password", "tenant_id"]) {
            switch name {
            case "path": settings.path = try path(value, "\(key).path")
            case "email": settings.email = try text(value, "\(key).email")
            case "password": settings.password = try text(value, "\(key).password")
            default: settings.tenant = try text(value, "\(key).tenant_id")
            }
        }
        for (name, said) in [("path", settings.path), ("email", settings.email), ("password", settings.password)]
        where said.isEmpty {
            throw fault(value, key, "'\(name)' is missing: say it")
        }
        return settings
    }

    /// The login of the second user, whose sessions the first must not reach.
    private static func secondUser(_ value: FileValue) throws(ConfigurationFault) -> AttackProfile.LoginSettings {
        for (_, value) in try members(value, "second_user", ["login"]) { return try login(value, "second_user.login") }
        throw fault(value, "second_user", "'login' is missing: say it")
    }

    /// The statuses with which the target lets a request in.
    private static func statuses(_ value: FileValue) throws(ConfigurationFault) -> Set<Int> {
        var statuses: Set<Int> = []
        for (_, value) in try members(value, "success", ["status"]) {
            for element in value.list ?? [value] {
                guard let status = element.text.flatMap({ Int($0) }), (100..<600).contains(status) else {
                    throw fault(element, "success.status", "expected a status from 100 to 599, or a list of them")
                }
                statuses.insert(status)
            }
        }
        guard !statuses.isEmpty else { throw fault(value, "success", "'status' is missing: say it") }
        return statuses
    }

    /// The target's WebSocket.
    private static func socket(_ value: FileValue) throws(ConfigurationFault) -> AttackProfile.Socket {
        var socket = AttackProfile.Socket()
        for (key, value) in try members(value, "socket", ["path", "carriers", "cookie", "session"]) {
            switch key {
            case "path": socket.path = try path(value, "socket.path")
            case "carriers":
                socket.carriers = []
                for element in try list(value, "socket.carriers") {
                    socket.carriers.append(try socketCarrier(element))
                }
            case "cookie": socket.cookie = try name(value, "socket.cookie", "expected a cookie's name")
            default:
                guard let session = Target.SocketSession(rawValue: try text(value, "socket.session")),
                    session != .asToken
                else { throw fault(value, "socket.session", "expected query, header or none") }
                socket.session = session
            }
        }
        guard !socket.path.isEmpty else { throw fault(value, "socket", "'path' is missing: say it") }
        return socket
    }

    /// The place of the token in a handshake.
    private static func socketCarrier(_ value: FileValue) throws(ConfigurationFault) -> Transport {
        switch try text(value, "socket.carriers") {
        case "query": return .socketQuery
        case "header": return .socketHeaders
        case "subprotocol": return .socketProtocol
        case "cookie": return .socketCookie
        default: throw fault(value, "socket.carriers", "expected query, header, subprotocol or cookie")
        }
    }

    /// What the target says that it does; cases that need something else are skipped.
    private static func promises(_ value: FileValue) throws(ConfigurationFault) -> Set<Need> {
        let known: [Need] = [.sessions, .refresh, .revoke, .ownership, .assertion, .protocolSessions]
        var promises: Set<Need> = []
        for element in try list(value, "promises") {
            let name = try text(element, "promises")
            guard let promise = known.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else {
                let names = known.map(\.rawValue).joined(separator: ", ")
                throw fault(element, "promises", "expected some of \(names)")
            }
            promises.insert(promise)
        }
        return promises
    }

    /// The settings for the authorization server of agents.
    private static func oauth(_ value: FileValue) throws(ConfigurationFault) -> OAuthSettings {
        var settings = OAuthSettings(resource: "")
        for (key, value) in try members(value, "oauth", ["resource", "scopes", "client_id", "redirect_uri"]) {
            switch key {
            case "resource": settings.resource = try path(value, "oauth.resource")
            case "scopes":
                for element in try list(value, "oauth.scopes") {
                    let scope = try visible(element, "oauth.scopes")
                    guard !scope.contains(" ") else {
                        throw fault(element, "oauth.scopes", "expected scopes without spaces")
                    }
                    settings.scopes.append(scope)
                }
            case "client_id": settings.clientID = try visible(value, "oauth.client_id")
            default:
                let uri = try visible(value, "oauth.redirect_uri")
                guard uri.contains(":"), !uri.contains("#"), !uri.contains(" ") else {
                    throw fault(value, "oauth.redirect_uri", "expected an absolute URI without a fragment")
                }
                settings.redirectURI = uri
            }
        }
        guard !settings.resource.isEmpty else { throw fault(value, "oauth", "'resource' is missing: say it") }
        guard (settings.clientID == nil) == (settings.redirectURI == nil) else {
            throw fault(value, "oauth", "'client_id' and 'redirect_uri' belong together: say both or neither")
        }
        return settings
    }

    /// The route that leads to the runner, and the address that the runner listens on.
    private static func canary(_ value: FileValue) throws(ConfigurationFault) -> AttackProfile.Canary {
        var canary = AttackProfile.Canary()
        for (key, value) in try members(value, "canary", ["upstream_route", "listen"]) {
            guard key == "listen" else {
                canary.route = try path(value, "canary.upstream_route")
                continue
            }
            let text = try text(value, "canary.listen")
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0,
                NetworkText.isIPv4(String(text[..<colon]))
            else { throw fault(value, "canary.listen", "expected ADDRESS:PORT, such as 127.0.0.1:9390") }
            canary.host = String(text[..<colon])
            canary.port = Int(port)
        }
        guard !canary.route.isEmpty else { throw fault(value, "canary", "'upstream_route' is missing: say it") }
        return canary
    }

    // MARK: Values
}
