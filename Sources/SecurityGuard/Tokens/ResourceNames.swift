import OAuth
import Synchronization

/// A protected resource for which another issuer's tokens are accepted.
package struct ForeignResource: Sendable, Equatable {
    /// The resource's identifier, which must be in the tokens' `aud`.
    package var identifier: String
    /// The issuer, as in its tokens' `iss`.
    package var issuer: String
    /// The scopes of the resource: a token has no others there.
    package var scopes: [String]

    package init(identifier: String, issuer: String, scopes: [String]) {
        self.identifier = identifier
        self.issuer = issuer
        self.scopes = scopes
    }
}

/// The identifiers of the protected resources that tokens may be for. They change with the configuration.
package final class ResourceNames: Sendable {
    private struct Names: Sendable {
        var own: [String]
        var foreign: [ForeignResource]
    }
    private let names: Mutex<Names>

    init(_ own: [String], foreign: [ForeignResource]) { self.names = Mutex(Names(own: own, foreign: foreign)) }

    /// The resources that the gateway itself issues tokens for.
    package var all: [String] { names.withLock { $0.own } }

    /// The resources that others issue tokens for, one for each issuer.
    package var foreign: [ForeignResource] { names.withLock { $0.foreign } }

    /// Replaces all of them.
    package func replace(by own: [String], foreign: [ForeignResource]) {
        names.withLock { $0 = Names(own: own, foreign: foreign) }
    }

    /// Whether tokens for a resource are accepted of this issuer; nil stands for the gateway itself.
    func accepts(issuer: String?, for resource: String) -> Bool {
        let (own, foreign) = names.withLock { ($0.own, $0.foreign) }
        guard let issuer else { return Scope.contains(own, resource) }
        return foreign.contains { sameBytes($0.identifier, resource) && sameBytes($0.issuer, issuer) }
    }

    /// Which resource another issuer's token with this `aud` is for. A token that names a resource is for that one
    /// alone, whatever else it names.
    func purpose(of audience: [String], issuer: String) -> ForeignTokenPurpose {
        let (own, foreign) = names.withLock { ($0.own, $0.foreign) }
        var named: [String] = []
        for name in foreign.map(\.identifier) + own
        where Scope.contains(audience, name) && !Scope.contains(named, name) {
            named.append(name)
        }
        guard let name = named.first else { return .general }
        guard named.count == 1,
            let resource = foreign.first(where: { sameBytes($0.identifier, name) && sameBytes($0.issuer, issuer) })
        else { return .nothing }
        return .resource(resource)
    }
}

/// What another issuer's token is for.
enum ForeignTokenPurpose: Sendable, Equatable {
    /// No resource: it counts as `issuers` says.
    case general
    /// A resource that names the issuer as its authorization server.
    case resource(ForeignResource)
    /// A resource that does not name the issuer, or several resources.
    case nothing
}
