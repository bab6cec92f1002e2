// Attempts to make an admission outside the gate, with everything that one is made of at hand. `.ci/must-not-compile`
// has the compiler confirm each of these errors, and that there is no other.
import Answers
import EdgeConfiguration
import Gate
import Runtime
import SecurityGuard

func forge(principal: Principal, permit: Permit, open: OpenRoute, admission: Admission) async throws {
    // expected-error@+1 {{'Admission' initializer is inaccessible due to 'internal' protection level}}
    _ = Admission(.token(principal))
    // expected-error@+1 {{'Admission' initializer is inaccessible due to 'internal' protection level}}
    _ = Admission(.session(permit))
    // expected-error@+1 {{'Admission' initializer is inaccessible due to 'internal' protection level}}
    _ = Admission(.tokenAndSession(principal, permit))
    // expected-error@+1 {{'Admission' initializer is inaccessible due to 'internal' protection level}}
    _ = Admission(.open(open))
    // expected-error@+1 {{'OpenRoute' initializer is inaccessible due to 'internal' protection level}}
    _ = OpenRoute(.requiresNothing)
    // expected-error@+1 {{'StoreQuestion' initializer is inaccessible due to 'internal' protection level}}
    _ = StoreQuestion(account: nil) { admission }
    // expected-error@+1 {{'UnconfirmedAdmission' initializer is inaccessible due to 'internal' protection level}}
    _ = UnconfirmedAdmission(admission)
}

func skipLastCheck(_ question: StoreQuestion) async throws -> Admission {
    let answer = try await question.answer()
    // expected-error@+1 {{'admission' is inaccessible due to 'internal' protection level}}
    _ = answer.admission
    // expected-error@+1 {{cannot convert return expression of type 'UnconfirmedAdmission' to return type 'Admission'}}
    return answer
}

func change(_ admission: inout Admission, principal: Principal) {
    // expected-error@+1 {{cannot assign to property: 'proof' is a 'let' constant}}
    admission.proof = .token(principal)
}
