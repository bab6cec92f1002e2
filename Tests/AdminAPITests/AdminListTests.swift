import Answers
import Encodings
import Testing

@testable import AdminAPI

/// Queries, cursors and the ring of refusals.
@Suite struct AdminListTests {
    @Test(
        "A parameter that is unknown, twice, broken or not text is refused",
        arguments: [
            "x=1", "limit=1&limit=2", "after=%zz", "after=%0a", "after=%ff", "after=%4", "a b",
            Array(repeating: "limit=1", count: 40).joined(separator: "&"),
        ])
    func refusedQueries(text: String) {
        #expect(throws: Problem.self) { try AdminQuery.read(text, known: ["limit", "after"]) }
    }

    @Test("Values are decoded once, and an empty query has none")
    func queries() throws {
        #expect(
            try AdminQuery.read("after=a%2Eb%2525&limit=", known: ["limit", "after"]) == [
                "after": "a.b%25", "limit": "",
            ])
        #expect(try AdminQuery.read(nil, known: []).isEmpty && AdminQuery.read("", known: []).isEmpty)
    }

    @Test("Pages of a list in memory follow each other without a gap", arguments: [1, 2, 3, 7, 10, 11])
    func pages(limit: Int) throws {
        let entries = (0..<10).map { JSONObject(dictionaryLiteral: ("n", .integer(Int64($0)))) }
        var (found, after): ([Int64], String?) = ([], nil)
        repeat {
            let page = try AdminCall.page(entries, after: after, limit: limit)
            #expect(page.entries.count <= limit)
            found += page.entries.compactMap { $0["n"]?.int64Value }
            after = page.next
        } while after != nil
        #expect(found == Array(0..<10))
    }

    @Test("What is no cursor is refused", arguments: ["0", "-1", "11", "x", "1e1", "99999999999999999999"])
    func cursors(after: String) {
        let entries = Array(repeating: JSONObject(), count: 10)
        #expect(throws: Problem.self) { try AdminCall.page(entries, after: after, limit: 5) }
    }

    @Test("The ring keeps the last thousand refusals")
    func ring() {
        var ring = RefusalRing()
        for number in 0..<2_500 {
            ring.add(RefusalEntry(time: Int64(number), requestID: "req_\(number)", route: "api", code: "not_found"))
        }
        #expect(ring.all.map(\.time).sorted() == Array(1_500..<2_500))
    }

    @Test(
        "A path has one route, an id is one segment, and the rest is not there",
        arguments: [
            ("GET", "/api/admin/sessions", "sessions", ""),
            ("DELETE", "/api/admin/sessions/ses_a", "sessions/{id}", "ses_a"),
            ("DELETE", "/api/admin/sessions/a%2Fb", "sessions/{id}", "a/b"),
        ])
    func routes(method: String, path: String, route: String, id: String) throws {
        let found = try AdminRoute.find(method, path)
        #expect(found.route.path == "/api/admin/" + route && found.id == id)
    }

    @Test(
        "Other paths are not found",
        arguments: [
            "/api/admin/", "/api/admin/session", "/api/admin/sessions/", "/api/admin/sessions/a/b",
            "/api/admin//sessions",
            "/api/admin/sessions/%zz", "/api/admin/Sessions",
        ])
    func unknown(path: String) {
        #expect { try AdminRoute.find("GET", path) } throws: { ($0 as? Problem)?.code == .notFound }
    }

    @Test("A method that a path does not have is refused with those that it has")
    func methods() {
        #expect { try AdminRoute.find("POST", "/api/admin/log-level") } throws: { error in
            let problem = error as? Problem
            return problem?.status == 405 && problem?.headers.first?.value == "GET, HEAD, PUT"
        }
    }
}
