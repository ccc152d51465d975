// The helper of requests: a process that sends the requests of one caller to one origin. docs/formats/online-protocol.md, "Requests".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
package import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem
internal import Synchronization

/// Sends the requests of one helper over the network.
package protocol RequestSender: Sendable {
    /// Sends one request, takes the pieces of its body from the caller, and gives the answer to the caller as it comes.
    func send(_ head: RequestHead, for caller: RequestCaller) async throws(OnlineRefusal)
}

/// The process that sends requests to one origin.
package enum RequestHelper {
    /// Reads the opening, confines the process, serves requests, and ends the process. Call it right after
    /// ``AgentProcess/harden(hidesMemory:)``, while there is one thread.
    ///
    /// - Parameters:
    ///   - port: The port of an origin. Nil if it is none.
    ///   - executor: Where the requests run. It is asked for after the confinement, since it may start a thread.
    ///   - make: Makes the sender of an opening. It gets a signer if a certificate is shown, or the token is bound to a key.
    package static func run(
        port: (String) -> UInt16?, on executor: () -> any TaskExecutor,
        _ make: @escaping @Sendable (borrowing RequestOpening, RequestSigner?) throws(OnlineRefusal) -> any RequestSender
    ) -> Never {
        let descriptor = HelperSocket.take()
        let channel = FrameChannel(descriptor)
        // As in the online helper: after the opening, all bytes can come from a server.
        var signer: RequestSigner?
        guard let opening = try? Self.opening(channel, &signer), om_limit_process(0, 120) == 0,
            Confinement.apply(ports: Set([port(opening.origin)].compactMap(\.self)))
        else { _exit(1) }
        let end = bootMilliseconds() + Int64(RequestOpening.life)
        let server = RequestServer(channel, signer)
        let kept = KeptOpening(opening), signing = signer
        // Mostly it is there already. Then no thread has to wait for it.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let first: RequestHead?
        do throws(RequestBroken) {
            first = poll(&waiting, 1, 0) > 0 ? try server.readHead(1) : nil
        } catch { _exit(0) }
        Task.detached(executorPreference: executor()) {
            let sender: any RequestSender
            do throws(OnlineRefusal) { sender = try make(kept.opening, signing) } catch {
                await server.refuse(first, error)
                _exit(0)
            }
            await server.serve(sender, first)
            _exit(0)
        }
        // The first thread stays here, to end the process when the caller is gone, rests for too long, or the time is over.
        while true {
            let now = bootMilliseconds()
            let last = server.restsSince.map { min(end, $0 + RequestOpening.idle) } ?? end
            guard now < last else { _exit(0) }
            if om_socket_wait_for_end(descriptor, Int32(clamping: max(1, min(last - now, 1_000)))) != 0 { _exit(0) }
        }
    }

    private static func opening(
        _ channel: borrowing FrameChannel, _ signer: inout RequestSigner?
    ) throws(ChannelError) -> RequestOpening {
        let frame = try channel.receive(
            start: AgentProtocol.frameTime, frame: AgentProtocol.frameTime, maximum: RequestOpening.maximumBody,
            descriptors: DescriptorBudget(Int(OM_SENT_DESCRIPTORS)))
        guard let frame, frame.version == AgentProtocol.version, frame.kind == FrameKind.opening.rawValue else {
            throw .malformed
        }
        let opening = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try RequestOpening(decoding: bytes) } catch { throw .malformed }
        }
        let chain = opening.chain
        signer = frame.descriptors?.takeSocket().map { RequestSigner($0, showing: chain) }
        guard opening.needsSignatures == (signer != nil) else { throw .malformed }
        return opening
    }
}

/// Carries an opening into a task.
private final class KeptOpening: Sendable {
    let opening: RequestOpening

    init(_ opening: consuming RequestOpening) { self.opening = opening }
}

/// The frames of one helper, request by request.
final class RequestServer: Sendable {
    private let channel: FrameChannel
    private let rest = Mutex<Int64?>(bootMilliseconds())

    private let signer: RequestSigner?
    private let outgoing = Mutex(Outgoing())
    /// How long the caller may take to read a frame, in milliseconds.
    private let time: Int
    /// How many bytes of frames are kept back at most.
    private static let mostKeptBack = 4_096

    /// Frames for the caller.
    private struct Outgoing: ~Copyable {
        var frames = FrameBatch()
        /// A frame may have been sent in part, so the caller would read a further one as the rest of it.
        var isBroken = false

        mutating func send(over channel: borrowing FrameChannel) throws(RequestBroken) {
            guard !isBroken else { throw RequestBroken() }
            do throws(ChannelError) { try channel.sendNow(&frames) } catch {
                isBroken = true
                throw RequestBroken()
            }
        }
    }

    init(_ channel: consuming FrameChannel, _ signer: RequestSigner?, within time: Int = Int(RequestOpening.total)) {
        self.channel = channel
        (self.signer, self.time) = (signer, time)
    }

    /// Whether it can take a further request.
    var canGoOn: Bool { signer?.canGoOn ?? true }

    /// Since when it waits for a request, in milliseconds since boot. Nil while it answers one.
    var restsSince: Int64? { rest.withLock { $0 } }

    /// Answers the first request with a refusal.
    func refuse(_ first: RequestHead?, _ refusal: OnlineRefusal) async {
        var head = first
        if head == nil { head = try? await self.head(1) }
        guard let head else { return }
        _ = try? await RequestCaller(self, head).refuse(refusal)
    }

    /// Serves requests until the caller is gone or breaks the protocol, or a body was not read to its end.
    ///
    /// - Parameter first: The head of the first request, if it was read.
    func serve(_ sender: any RequestSender, _ first: RequestHead?) async {
        for number in 1...RequestOpening.mostRequests {
            var read = number == 1 ? first : nil
            if read == nil { read = try? await head(number) }
            guard let head = read else { return }
            rest.withLock { $0 = nil }
            let caller = RequestCaller(self, head)
            do throws(OnlineRefusal) {
                try await sender.send(head, for: caller)
                guard try await caller.finish() else { return }
            } catch {
                _ = try? await caller.refuse(error)
                return
            }
            rest.withLock { $0 = bootMilliseconds() }
        }
    }

    /// In place if it begins at once, else on a thread of its own. No request runs meanwhile.
    private func head(_ number: UInt32) async throws(RequestBroken) -> RequestHead {
        if channel.hasBytesSoon() { return try readHead(number) }
        return try await OwnThread.run { () throws(RequestBroken) in try self.readHead(number) }
    }

    func readHead(_ number: UInt32) throws(RequestBroken) -> RequestHead {
        let frame = try receive(maximum: RequestHead.maximumBody, within: Int(RequestOpening.idle))
        guard frame.kind == FrameKind.requestHead.rawValue else { throw RequestBroken() }
        return try frame.body.withBytes { (bytes: Span<UInt8>) throws(RequestBroken) in
            do throws(MalformedBytes) {
                var wire = WireReader(bytes)
                let head: RequestHead = try wire.read()
                try wire.end()
                guard head.number == number else { throw MalformedBytes() }
                return head
            } catch { throw RequestBroken() }
        }
    }

    func receive(maximum: Int, within time: Int = Int(RequestOpening.total)) throws(RequestBroken) -> Frame {
        do throws(ChannelError) {
            let frame = try channel.receive(start: time, frame: time, maximum: maximum)
            guard let frame, frame.version == AgentProtocol.version else { throw .malformed }
            return frame
        } catch { throw RequestBroken() }
    }

    /// Keeps a short frame back until ``sendKeptBack()`` or the next frame, and sends a longer one.
    ///
    /// - Returns: Whether it is kept back.
    func keepBack(_ kind: FrameKind, _ body: consuming SecretBuffer) async throws(RequestBroken) -> Bool {
        // Only while the caller reads: then the socket takes it at the pause, when no thread can wait for the caller.
        let isKeptBack =
            channel.hasRoom()
            && outgoing.withLock { outgoing in
                guard !outgoing.isBroken, outgoing.frames.count + body.count <= Self.mostKeptBack else { return false }
                outgoing.frames.add(kind, body)
                return true
            }
        if !isKeptBack { try await send(kind, body) }
        return isKeptBack
    }

    /// Sends what is kept back.
    func sendKeptBack() { outgoing.withLock { _ = try? $0.send(over: channel) } }

    /// Sends what is kept back, and a frame: as far as the socket takes it, and the rest on a thread of its own, since the caller may
    /// read slowly.
    func send(_ kind: FrameKind, _ body: consuming SecretBuffer) async throws(RequestBroken) {
        var rest = FrameBatch()
        try outgoing.withLock { (outgoing) throws(RequestBroken) in
            outgoing.frames.add(kind, body)
            try outgoing.send(over: channel)
            if outgoing.frames.count > 0 { swap(&outgoing.frames, &rest) }
        }
        guard rest.count > 0 else { return }
        let frames = SharedFrames(rest)
        do throws(RequestBroken) {
            try await OwnThread.run { () throws(RequestBroken) in
                do throws(ChannelError) { try self.channel.send(frames.batch, within: self.time) } catch { throw RequestBroken() }
            }
        } catch {
            outgoing.withLock { $0.isBroken = true }
            throw error
        }
    }
}

/// Carries frames to another thread.
private final class SharedFrames: Sendable {
    let batch: FrameBatch

    init(_ batch: consuming FrameBatch) { self.batch = batch }
}

/// The caller is gone, or breaks the protocol. Or this system starts no thread.
struct RequestBroken: Error, StorageErrorConvertible {
    init() {}
    init(storage error: StorageError) {}
}
