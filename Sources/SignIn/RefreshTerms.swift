import AuthorizationServer
import OAuth
import SecurityGuard
import StateSurface

/// What a request for a refresh asks of the new access token. Nothing by default.
package struct RefreshTerms: Sendable, Equatable {
    /// The scope as it was sent; nil for that of the refresh token (RFC 6749 section 6).
    package var scope: String?
    /// Every `resource` as it was sent, empty ones included (RFC 8707 section 2.2).
    package var resources: [String]

    package init(scope: String? = nil, resources: [String] = []) {
        self.scope = scope
        self.resources = resources
    }

    /// The scopes that are asked for; nil for those of the family. They count for the token of a resource alone.
    var narrowing: [String]? { scope.flatMap(Scope.parse) }

    private var namesResource: Bool { resources.contains { !$0.isEmpty } }

    /// Refuses a wider scope than the family's, and another resource. The refresh token of a login is for no resource.
    ///
    /// A narrower scope is granted for a resource; otherwise it is not, and the answer says so.
    package func check(_ family: FamilyRecord) throws(OAuthFault) {
        guard scope != nil || namesResource else { return }
        if let scope {
            guard let wanted = Scope.parse(scope), Scope.covers(family.scope, wanted) else {
                throw OAuthFault(.invalidScope, "The scope is malformed or wider than what was granted.")
            }
        }
        guard let own = family.resource else {
            // The client would take the token for one that only the resource accepts.
            guard !namesResource else {
                throw OAuthFault(
                    .invalidTarget, "This grant gives no tokens for a resource.", reason: "resource_unsupported")
            }
            return
        }
        guard resources.count <= 1 else {
            throw OAuthFault(.invalidRequest, "A parameter is there twice.", reason: "parameter_repeated")
        }
        if let resource = resources.first, !resource.isEmpty, !ResourceIdentifier.areSame(resource, own) {
            throw OAuthFault(.invalidTarget, "The refresh token is for another resource.")
        }
    }
}
