import Encodings
import Foundation

extension LaxVerifier {
    func isRightType(_ header: JSONObject) -> Bool {
        if bug != .ignoresNesting, header["cty"] != nil { return false }
        guard bug != .ignoresType else { return true }
        let type = header["typ"]?.stringValue?.lowercased()
        return type == "at+jwt" || type == "application/at+jwt"
    }

    func areRight(_ claims: JSONObject) -> Bool {
        isRightAudience(claims["aud"]) && isRightIssuer(claims["iss"]) && areRightDates(claims)
            && (bug == .ignoresOtherClaims
                || ["sub", "client_id", "jti"].allSatisfy { !(claims[$0]?.stringValue ?? "").isEmpty })
    }

    private func isRightAudience(_ value: JSONValue?) -> Bool {
        if bug == .ignoresAudience { return true }
        if bug == .audienceBySubstring { return value?.serialized().contains("gatehouse") ?? false }
        if let values = value?.arrayValue {
            let names = values.compactMap(\.stringValue)
            return names.count == values.count && names.contains { $0.utf8.elementsEqual("gatehouse".utf8) }
        }
        return value?.stringValue?.utf8.elementsEqual("gatehouse".utf8) ?? false
    }

    private func isRightIssuer(_ value: JSONValue?) -> Bool {
        let issuer = value?.stringValue ?? ""
        switch bug {
        case .ignoresIssuer: return true
        case .issuerByPrefix: return issuer.hasPrefix("https://gate.example")
        default: return issuer.utf8.elementsEqual("https://gate.example".utf8)
        }
    }

    private func areRightDates(_ claims: JSONObject) -> Bool {
        for name in ["exp", "nbf", "iat"] {
            if let value = claims[name] {
                guard let seconds = value.doubleValue, seconds >= 0, seconds <= 9_007_199_254_740_992 else {
                    if bug == .ignoresDatesOfOtherTypes { continue }
                    if bug == .ignoresExpiry, name == "exp" { continue }
                    return false
                }
            } else if name == "iat" || (name == "exp" && bug != .ignoresExpiry) {
                return false
            }
        }
        let time = Double(now)
        let expiry = claims["exp"]?.doubleValue ?? .infinity
        let issued = claims["iat"]?.doubleValue ?? time
        if bug != .ignoresNotBefore {
            guard max(claims["nbf"]?.doubleValue ?? 0, issued) <= time + 30 else { return false }
        }
        if bug != .ignoresLifetime, bug != .ignoresExpiry, bug != .ignoresDatesOfOtherTypes {
            guard expiry - issued <= 900 else { return false }
        }
        return bug == .ignoresExpiry || expiry > time - 30
    }
}
