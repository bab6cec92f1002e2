/// What an authorization request was answered with.
enum AuthorizationOutcome: Sendable {
    /// A page that asks the person.
    case page(RawResponse)
    /// A redirect with a code.
    case code(String, location: String)
    /// Anything else: an error, in a page or a redirect.
    case refused(RawResponse?)

    /// Reads an answer. Nil, for a connection that was ended, is a refusal; so is a redirect without a code.
    init(_ answer: RawResponse?) {
        guard let answer else {
            self = .refused(nil)
            return
        }
        let location = answer.field("location") ?? ""
        if (300..<400).contains(answer.status), let code = QueryText.value("code", inURL: location) {
            self = .code(code, location: location)
        } else if answer.isSuccess, ConsentForm(answer) != nil {
            self = .page(answer)
        } else {
            self = .refused(answer)
        }
    }

    /// The verdict: passed unless the request led to a code, or to the page where the person can allow it.
    func judged(_ what: String) -> Judgement {
        switch self {
        case .page: .failed("\(what) led to the question whether to allow it")
        case .code: .failed("\(what) led to a code")
        case .refused(let answer): .passed(answer.map { "refused with \($0.status)" } ?? "the connection was ended")
        }
    }
}

extension ConsentForm {
    /// Nil if the body has no form with hidden fields.
    init?(_ page: RawResponse) {
        let text = String(decoding: page.content, as: UTF8.self)
        guard let start = text.firstRange(of: "<form"), let end = text[start.upperBound...].firstRange(of: "</form>")
        else { return nil }
        let form = text[start.upperBound..<end.lowerBound]
        let hidden = form.split(separator: "<input").dropFirst().compactMap { piece -> (name: String, value: String)? in
            let tag = piece.prefix { $0 != ">" }
            guard Self.attribute("type", of: tag) == "hidden", let name = Self.attribute("name", of: tag) else {
                return nil
            }
            return (name, Self.attribute("value", of: tag) ?? "")
        }
        if hidden.isEmpty { return nil }
        self.init(action: Self.attribute("action", of: form.prefix { $0 != ">" }), fields: hidden)
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = tag.firstRange(of: " \(name)=\"") else { return nil }
        let value = tag[start.upperBound...].prefix { $0 != "\"" }
        return String(value).replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    }
}
