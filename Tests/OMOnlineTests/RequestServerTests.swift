// The helper's frames to a caller that reads slowly, or no more.

import Glibc
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Frames of the requests' helper", .onOwnThreads) struct RequestServerTests {
    /// A helper's end of a connection. The caller's end and the number of the helper's.
    private static func connection(
        within time: Int = 60_000
    ) throws -> (server: RequestServer, caller: Int32, own: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        return (RequestServer(FrameChannel(ends[0]), nil, within: time), ends[1], ends[0])
    }

    private static func body(_ count: Int) -> SecretBuffer {
        var body = SecretBuffer()
        body.append([UInt8](repeating: 0x61, count: count).span)
        return body
    }

    /// Reads what is there, and returns how many bytes it is.
    private static func drain(_ caller: Int32) -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 16), count = 0
        while true {
            let got = recv(caller, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard got > 0 else { return count }
            count += got
        }
    }

    @Test("frames that the socket takes in part come whole and in their order, and what was kept back comes first")
    func order() async throws {
        let (server, caller, _) = try Self.connection()
        #expect(try await server.keepBack(.answerHead, Self.body(10)))
        let sending = Task {
            try await server.send(.answerPiece, Self.body(1 << 20))
            try await server.send(.answerEnd, Self.body(1))
        }
        let channel = FrameChannel(caller)
        var lengths: [Int] = []
        for _ in 0..<3 {
            guard let frame = try channel.receive(start: 60_000, frame: 60_000, maximum: 1 << 20) else { break }
            lengths.append(frame.body.count)
        }
        try await sending.value
        #expect(lengths == [10, 1 << 20, 1])
    }

    @Test("after a frame that its caller did not read in time, no further byte is sent")
    func broken() async throws {
        let (server, caller, _) = try Self.connection(within: 1)
        defer { close(caller) }
        await #expect(throws: RequestBroken.self) { try await server.send(.answerPiece, Self.body(1 << 20)) }
        let taken = Self.drain(caller)
        #expect(taken > 0 && taken < 1 << 20)
        await #expect(throws: RequestBroken.self) { try await server.send(.answerRefused, Self.body(1)) }
        server.sendKeptBack()
        #expect(Self.drain(caller) == 0)
    }

    @Test("a frame is not kept back from a caller that is behind: at the pause the socket would not take it")
    func behind() async throws {
        let (server, caller, own) = try Self.connection(within: 1)
        defer { close(caller) }
        let filling = [UInt8](repeating: 0, count: 1 << 16)
        while send(own, filling, filling.count, Int32(MSG_DONTWAIT)) > 0 {}
        await #expect(throws: RequestBroken.self) { try await server.keepBack(.answerHead, Self.body(10)) }
    }
}
