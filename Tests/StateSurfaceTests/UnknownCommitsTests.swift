import Testing

@testable import StateSurface

@Suite("Commits that were given up on")
struct UnknownCommitsTests {
    private let start = ContinuousClock.now

    @Test("There are none at first, and no number is asked for")
    func none() {
        var commits = UnknownCommits()
        #expect(!commits.areOpen && !commits.needsBound(at: start))
        commits.setBound(7, askedAt: start)
        commits.looked(xmin: 9)
        #expect(!commits.areOpen)
    }

    @Test("They are open until no transaction is running that has a lower number than one taken a minute later")
    func decided() {
        var commits = UnknownCommits()
        commits.add(at: start)
        commits.looked(xmin: .max)
        #expect(commits.areOpen && !commits.needsBound(at: start + .milliseconds(59_999)))
        let later = start + .seconds(60)
        #expect(commits.needsBound(at: later))
        commits.setBound(100, askedAt: later)
        #expect(!commits.needsBound(at: later + .seconds(600)))
        commits.looked(xmin: 99)
        #expect(commits.areOpen)
        commits.looked(xmin: 100)
        #expect(!commits.areOpen && !commits.needsBound(at: later))
    }

    @Test("One more that is given up on while the number is asked for, or after it, is waited for, too")
    func another() {
        var commits = UnknownCommits()
        let later = start + .seconds(60)
        commits.add(at: start)
        commits.add(at: later)
        commits.setBound(100, askedAt: later)
        commits.looked(xmin: 200)
        #expect(commits.areOpen)
        commits.setBound(300, askedAt: later + .seconds(60))
        commits.add(at: later + .seconds(61))
        commits.looked(xmin: 300)
        #expect(commits.areOpen && commits.needsBound(at: later + .seconds(121)))
    }

    @Test("After the connection was lost the number is asked for again")
    func lost() {
        var commits = UnknownCommits()
        let later = start + .seconds(60)
        commits.add(at: start)
        commits.setBound(100, askedAt: later)
        commits.lostConnection()
        commits.looked(xmin: 200)
        #expect(commits.areOpen && commits.needsBound(at: later))
        commits.setBound(50, askedAt: later)
        commits.looked(xmin: 50)
        #expect(!commits.areOpen)
    }
}
