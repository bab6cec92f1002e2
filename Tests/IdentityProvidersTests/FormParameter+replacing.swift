@testable import IdentityProviders

extension [FormParameter] {
    func replacing(_ name: String, _ value: String?) -> [FormParameter] {
        compactMap { parameter in
            parameter.name == name ? value.map { FormParameter(name, $0) } : parameter
        }
    }
}
