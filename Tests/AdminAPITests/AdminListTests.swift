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

    private func refusals(_ numbers: some Sequence<Int>) -> [RefusalEntry] {
        numbers.map { number in
            let id = String(number)
            return RefusalEntry(
                time: Int64(number / 3), requestID: "req_" + String(repeating: "0", count: 21 - id.count) + id,
                route: "api", code: "not_found")
        }
    }

    @Test("Pages of refusals follow each other while new ones come and old ones go", arguments: [1, 2, 3, 7, 20])
    func refusalPages(limit: Int) throws {
        // Newest first; with each page three come, and the oldest goes.
        var (newest, oldest) = (29, 0)
        var (found, after): ([String], String?) = ([], nil)
        repeat {
            let kept = refusals((oldest...newest).reversed())
            let page = try RefusalRoutes.page(kept, after: after, limit: limit)
            found += page.entries.compactMap { $0["request_id"]?.stringValue }
            (newest, oldest, after) = (newest + 3, oldest + 1, page.next)
        } while after != nil
        let began = refusals((0...29).reversed()).map(\.requestID)
        #expect(found == Array(began.prefix(found.count)) && found.count >= min(30, 30 - oldest))
    }

    @Test("A page goes on at what is kept when the refusal that it begins after is not")
    func droppedRefusal() throws {
        let all = refusals((0..<9).reversed())
        let cursor = try #require(try RefusalRoutes.page(all, after: nil, limit: 3).next)
        // Rings of several loops: of one, the refusal at the cursor and its neighbours were pushed out.
        let kept = all.enumerated().filter { $0.offset == 0 || $0.offset > 4 }.map(\.element)
        let page = try RefusalRoutes.page(kept, after: cursor, limit: 10)
        #expect(page.entries.compactMap { $0["request_id"]?.stringValue } == all.dropFirst(5).map(\.requestID))
        #expect(page.next == nil)
    }

    @Test(
        "What is no cursor of refusals is refused",
        arguments: [
            "", "x", "req_000000000000000000001", "1.req_1", "x.req_000000000000000000001",
            "1.req_00000000000000000000A",
        ])
    func refusalCursors(after: String) {
        #expect(throws: Problem.self) { try RefusalRoutes.page(refusals(0..<3), after: after, limit: 5) }
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
