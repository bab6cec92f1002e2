// The control beside ForgedAdmission.swift: the same names, used as code outside the gate may use them. It compiles.
import Answers
import EdgeConfiguration
import Gate
import Runtime
import SecurityGuard

func askGate(_ gate: Gate, _ request: GateRequest, principal: Principal, permit: Permit) throws(Problem) -> Admission? {
    let terms = AccessTerms(requirement: .none)
    guard case .admitted(let admission) = try gate.judge(request, terms) else { return nil }
    // What an admission rests on can be read, and pattern matching names every case.
    switch admission.proof {
    case .open(let route): print(route.reason)
    case .token(let token): print(token === principal)
    case .session(let session): print(session == permit)
    case .tokenAndSession(let token, let session): print(token === principal, session == permit)
    }
    return admission
}

func askStore(_ question: StoreQuestion, for gate: Gate) async throws(Problem) -> Admission {
    let answer = try await question.answer()
    return try gate.confirm(answer, opensSocket: false)
}
