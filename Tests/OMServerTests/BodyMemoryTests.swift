#if Server
// The memory that large bodies share.

import Testing

@testable import omvault_server

@Suite("Memory of large bodies") struct BodyMemoryTests {
    @Test("one network has half of the memory, all have the whole, and a body that is gone gives its part back")
    func shares() {
        let memory = BodyMemory()
        let half = BodyMemory.mostOfNetwork
        var one = memory.reserve(half, for: "192.0.2.1")
        #expect(one != nil && memory.reserve(1, for: "192.0.2.1") == nil)
        // All addresses of one customer are one network.
        var other = memory.reserve(half - 1, for: "2001:db8::1")
        #expect(other != nil && memory.reserve(2, for: "2001:db8::2") == nil)
        #expect(memory.reserve(2, for: "192.0.2.3") == nil && memory.reserve(1, for: "192.0.2.3") != nil)
        one = nil
        #expect(memory.reserve(half, for: "192.0.2.1") != nil)
        other = nil
        #expect(memory.reserve(half, for: "2001:db8::2") != nil)
    }
}
#endif
