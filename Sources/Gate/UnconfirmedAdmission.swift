/// What the store has admitted, before the last check: its token may have been revoked while the store was asked.
///
/// Only the gate can look inside, and only ``Gate/confirm(_:opensSocket:)`` makes an ``Admission`` of it.
package struct UnconfirmedAdmission: Sendable {
    let admission: Admission

    init(_ admission: Admission) { self.admission = admission }
}
