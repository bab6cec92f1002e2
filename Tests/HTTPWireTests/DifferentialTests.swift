import HTTPWire
import NIOCore
import RandomForTests
import Testing

@Suite("Against llhttp")
struct DifferentialTests {
    @Test("no request is accepted that llhttp refuses, and none is framed differently") func requests() {
        compare(
            seeds: Seeds.requests, seed: 11, ours: { FramedConnection.requests($0) }, theirs: Reference.requests,
            isComparable: Reference.knowsMethod)
    }

    @Test("no response is accepted that llhttp refuses, and none is framed differently") func responses() {
        compare(
            seeds: Seeds.responses, seed: 12, ours: { FramedConnection.responses($0).withoutInterim },
            theirs: Reference.responses, isComparable: { _ in true })
    }

    private func compare(
        seeds: [String], seed: UInt64, ours: ([UInt8]) -> FramedConnection, theirs: ([UInt8]) -> Reference,
        isComparable: (FramedMessage) -> Bool
    ) {
        var generator = SeededGenerator(seed: FuzzPlan.seed(seed))
        let end = ContinuousClock.now + FuzzPlan.time
        var rounds = 0
        var accepted = 0
        while rounds < FuzzPlan.maxRounds, ContinuousClock.now < end {
            rounds += 1
            var bytes = Wire.bytes(seeds.randomElement(using: &generator) ?? "")
            if rounds > seeds.count * 4 { bytes = Seeds.mutate(bytes, &generator) }
            let mine = ours(bytes)
            let reference = theirs(bytes)
            for (index, message) in mine.messages.enumerated() {
                guard isComparable(message) else { break }
                guard message.isComplete else { continue }
                accepted += 1
                guard index < reference.messages.count, reference.messages[index] == message else {
                    let text = String(decoding: bytes, as: UTF8.self).debugDescription
                    Issue.record("\(text): \(message) against \(reference)")
                    return
                }
            }
        }
        #expect(accepted > 50)
    }
}
