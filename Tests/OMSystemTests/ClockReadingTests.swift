import Testing

@testable import OMSystem

@Suite("The clocks") struct ClockReadingTests {
    @Test("seconds begin together on both clocks, so the boot clock is never ahead of the wall clock")
    func together() {
        let second: Int64 = 1_000_000_000
        for phase in stride(from: Int64(0), to: second, by: 99_999_999) {
            let (wall, boot) = (1_800_000_000 * second + phase, 5_000 * second + 123_456_789)
            var apart: Set<Int64> = []
            for passed in stride(from: Int64(0), through: 3 * second, by: 50_000_001) {
                let reading = ClockReading(
                    nanoseconds: wall + passed, sinceBoot: boot + passed, bootID: [UInt8](repeating: 1, count: 16))
                apart.insert(reading.wall - reading.sinceBoot)
                #expect(reading.wall == (wall + passed) / second)
                #expect(abs(reading.sinceBoot * second - (boot + passed)) < second)
            }
            #expect(apart.count == 1, "\(apart)")
        }
    }

    @Test("a wall clock before 1970 is rounded down to whole seconds")
    func early() {
        let reading = ClockReading(nanoseconds: -1, sinceBoot: 2_500_000_000, bootID: [UInt8](repeating: 1, count: 16))
        #expect(reading.wall == -1 && (1...3).contains(reading.sinceBoot))
    }

    @Test("a wall clock before 2024 was not set")
    func set() {
        let boot = [UInt8](repeating: 1, count: 16)
        #expect(!ClockReading(wall: 1_704_067_199, sinceBoot: 1, bootID: boot).isWallSet)
        #expect(ClockReading(wall: 1_704_067_200, sinceBoot: 1, bootID: boot).isWallSet)
        #expect(ClockReading.now().isWallSet)
    }
}
