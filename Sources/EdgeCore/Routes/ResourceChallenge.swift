import Answers
import AuthorizationServer

/// What the refusals of a resource add to their challenge (RFC 9728 section 5.1, RFC 6750 section 3): where its
/// metadata is, and which scopes are needed.
package struct ResourceChallenge: Sendable {
    private let metadata: String
    private let scope: String

    init(issuer: String, path: String, scopes: [String]) {
        metadata = issuer + ProtectedResource.metadataPath(of: path)
        scope = scopes.joined(separator: " ")
    }

    /// The refusal with the parameters.
    package func applied(to problem: Problem) -> Problem {
        guard problem.isChallenging else { return problem }
        var problem = problem
        problem.challenge = [("resource_metadata", metadata)]
        if !scope.isEmpty { problem.challenge.append(("scope", scope)) }
        return problem
    }
}
