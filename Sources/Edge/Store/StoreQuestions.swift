import Answers
import Gate
import NIOCore
import Synchronization

/// Asks the store what the requests of one event loop depend on.
///
/// One task asks all questions that a turn of the loop brings, each as far as it gets without waiting before the next,
/// and answers that are there together come back together: where the store is a file, a change of threads takes longer
/// than an answer. Confined to its loop.
package final class StoreQuestions {
    /// What the store's answer leads to: an admission that the gate has to confirm, or the refusal of the request.
    package typealias Answer = Result<UnconfirmedAdmission, Problem>

    private let loop: any EventLoop
    private var number: UInt64 = 0
    /// The questions of this turn, by their numbers.
    private var asked: [(number: UInt64, question: StoreQuestion)] = []
    /// What follows the answer to each question that was asked.
    private var followers: [UInt64: (Answer) -> Void] = [:]
    private let answers = AnswerBox()

    /// Creates the queue of this event loop.
    package init(loop: any EventLoop) { self.loop = loop }

    /// Asks a question at the end of the loop's turn. To be called on the loop.
    ///
    /// - Parameter follow: called on the loop with the answer, after this has returned.
    func ask(_ question: StoreQuestion, then follow: @escaping (Answer) -> Void) {
        number &+= 1
        followers[number] = follow
        asked.append((number, question))
        guard asked.count == 1 else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute { bound.value.send() }
    }

    private func send() {
        let questions = asked
        asked = []
        let (bound, loop, answers) = (NIOLoopBound(self, eventLoop: loop), loop, answers)
        let answer = { @Sendable (number: UInt64, question: StoreQuestion) async in
            if answers.put(await question.result, to: number) { loop.execute { bound.value.takeAnswers() } }
        }
        Task {
            await withDiscardingTaskGroup { group in
                group.addImmediateTask { await StoreQuestion.readAccounts(of: questions.map { $0.question }) }
                for (number, question) in questions {
                    group.addImmediateTask { await answer(number, question) }
                }
            }
        }
    }

    private func takeAnswers() {
        for (number, answer) in answers.takeAll() { followers.removeValue(forKey: number)?(answer) }
    }
}

extension StoreQuestion {
    fileprivate var result: StoreQuestions.Answer {
        get async {
            do throws(Problem) { return .success(try await answer()) } catch { return .failure(error) }
        }
    }
}

/// Answers on their way to an event loop.
private final class AnswerBox: Sendable {
    private let answers = Mutex<[(number: UInt64, answer: StoreQuestions.Answer)]>([])

    /// Adds the answer to a question.
    ///
    /// - Returns: whether the box was empty, so that the event loop has to be told to look.
    func put(_ answer: StoreQuestions.Answer, to number: UInt64) -> Bool {
        answers.withLock { answers in
            answers.append((number, answer))
            return answers.count == 1
        }
    }

    func takeAll() -> [(number: UInt64, answer: StoreQuestions.Answer)] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}
