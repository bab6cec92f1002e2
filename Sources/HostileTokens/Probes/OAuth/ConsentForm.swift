/// The first form of a page that has hidden fields.
///
/// It is searched as text: enough for a page that was not written to deceive the suite.
struct ConsentForm {
    let action: String?
    let fields: [(name: String, value: String)]
}
