import StateSurface
import Testing

@Suite("The room for a receiver's deliveries")
struct DeliveryRoomTests {
    private static func room(_ waiting: Int, newest: Int64 = 500, before: DeliveryRoom? = nil) -> DeliveryRoom {
        DeliveryRoom(receiver: "r", waiting: waiting, newest: newest, limit: 80, before: before)
    }

    @Test("It is open for as many more as there is room for, from the newest on")
    func open() {
        #expect(Self.room(0) == DeliveryRoom(receiver: "r", openUntil: 580, isFull: false))
        #expect(Self.room(79) == DeliveryRoom(receiver: "r", openUntil: 501, isFull: false))
        for waiting in [80, 81] {
            #expect(Self.room(waiting) == DeliveryRoom(receiver: "r", openUntil: 500, isFull: true))
        }
    }

    @Test("Once full, it stays full until an eighth is free")
    func full() {
        let full = Self.room(80)
        #expect(Self.room(71, before: full).isFull)
        let open = Self.room(70, before: full)
        #expect(!open.isFull)
        #expect(!Self.room(71, before: open).isFull)
    }

    @Test("It is told again when it is full or no longer so, and when the place has moved on by an eighth of the room")
    func news() {
        let before = Self.room(10)
        #expect(before.isNews(after: nil, limit: 80))
        #expect(!Self.room(10, newest: 510).isNews(after: before, limit: 80))
        #expect(Self.room(10, newest: 511).isNews(after: before, limit: 80))
        #expect(!Self.room(20, newest: 520).isNews(after: before, limit: 80))
        let full = Self.room(80)
        #expect(full.isNews(after: before, limit: 80) && Self.room(70, before: full).isNews(after: full, limit: 80))
        #expect(!Self.room(75, newest: 505, before: full).isNews(after: full, limit: 80))
    }
}
