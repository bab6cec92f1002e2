import Answers
import NIOCore
import NIOPosix
import Testing

@testable import Edge
@testable import Gate

@Suite("Questions to the store")
struct StoreQuestionsTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    @Test("Each gets its own answer, and one that waits holds up none of its turn", .timeLimit(.minutes(1)))
    func turn() async throws {
        let (released, release) = AsyncStream<Void>.makeStream()
        let (told, tell) = AsyncStream<String>.makeStream()
        let loop = loop
        try await loop.submit {
            let questions = StoreQuestions(loop: loop)
            for number in 0..<5 {
                let question = StoreQuestion(account: nil) {
                    if number == 0 { for await _ in released { break } }
                    throw Problem(.notFound, detail: "\(number)")
                }
                questions.ask(question) { answer in
                    loop.preconditionInEventLoop()
                    tell.yield("\(number): \(Self.detail(answer))")
                }
            }
        }.get()
        var order: [String] = []
        for await word in told {
            order.append(word)
            if order.count == 4 { release.yield() }
            if order.count == 5 { break }
        }
        #expect(order == ["1: 1", "2: 2", "3: 3", "4: 4", "0: 0"])
    }

    @Test("What follows an answer may ask again", .timeLimit(.minutes(1)))
    func again() async throws {
        let (told, tell) = AsyncStream<String>.makeStream()
        let loop = loop
        try await loop.submit {
            let questions = StoreQuestions(loop: loop)
            let question = { word in StoreQuestion(account: nil) { throw Problem(.notFound, detail: word) } }
            questions.ask(question("first")) { answer in
                tell.yield(Self.detail(answer))
                questions.ask(question("second")) { tell.yield(Self.detail($0)) }
            }
        }.get()
        var words: [String] = []
        for await word in told {
            words.append(word)
            if words.count == 2 { break }
        }
        #expect(words == ["first", "second"])
    }

    private static func detail(_ answer: StoreQuestions.Answer) -> String {
        if case .failure(let problem) = answer { problem.detail } else { "admitted" }
    }
}
