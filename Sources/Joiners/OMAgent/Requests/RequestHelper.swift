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
        // Mostly it is there already. Then no thread has to wait for it. No thread ends the process yet, so the time for it is
        // short.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let first: RequestHead?
        do throws(RequestBroken) {
            first = poll(&waiting, 1, 0) > 0 ? try server.readHead(1, within: Int(RequestOpening.idle)) : nil
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
    /// The first frames of an answer, for one call together.
    private let held = Mutex(FrameBatch())

    init(_ channel: consuming FrameChannel, _ signer: RequestSigner?) {
        self.channel = channel
        self.signer = signer
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
                guard (try? await caller.finish()) != nil else { return }
            } catch {
                _ = try? await caller.refuse(error)
                return
            }
            // What is left of the body of the request would be read as the next one.
            guard caller.hasWholeBody, canGoOn else { return }
            rest.withLock { $0 = bootMilliseconds() }
        }
    }

    /// In place if it comes at once, else on a thread of its own.
    private func head(_ number: UInt32) async throws(RequestBroken) -> RequestHead {
        if channel.hasBytesSoon() { return try readHead(number, within: Int(RequestOpening.idle)) }
        return try await OwnThread.run { () throws(RequestBroken) in try self.readHead(number) }
    }

    func readHead(_ number: UInt32, within time: Int = Int(RequestOpening.total)) throws(RequestBroken) -> RequestHead {
        let frame = try receive(maximum: RequestHead.maximumBody, within: time)
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

    /// Keeps a short frame until ``sendHeld()``, and sends a longer one.
    ///
    /// - Returns: Whether the frame is kept.
    func hold(_ kind: FrameKind, _ body: consuming SecretBuffer) async throws(RequestBroken) -> Bool {
        if held.withLock({ $0.add(kind, body) }) { return true }
        try await send(kind, body)
        return false
    }

    /// Sends what is held, if the socket takes it now. It does while the caller waits for an answer, as it has read the one before.
    func sendHeld() {
        held.withLock { held in
            if !held.isEmpty, (try? channel.sendNow(held)) == true { held.removeAll() }
        }
    }

    /// Sends what is held, and a frame. On a thread of its own if the socket is full: the caller may read slowly.
    func send(_ kind: FrameKind, _ body: consuming SecretBuffer) async throws(RequestBroken) {
        let isHeld = held.withLock { $0.add(kind, body) }
        sendHeld()
        var frames = FrameBatch()
        held.withLock { swap(&$0, &frames) }
        if isHeld, frames.isEmpty { return }
        let kept = KeptFrames(frames, kind, isHeld ? SecretBuffer() : body)
        try await OwnThread.run { () throws(RequestBroken) in
            do throws(ChannelError) {
                let time = Int(RequestOpening.total)
                try self.channel.send(kept.frames, within: time)
                if !isHeld { try self.channel.send(kept.kind, kept.body, within: time) }
            } catch { throw RequestBroken() }
        }
    }
}

/// Carries frames to another thread.
private final class KeptFrames: Sendable {
    let frames: FrameBatch
    let kind: FrameKind
    let body: SecretBuffer

    init(_ frames: consuming FrameBatch, _ kind: FrameKind, _ body: consuming SecretBuffer) {
        self.kind = kind
        self.frames = frames
        self.body = body
    }
}

/// The caller is gone, or breaks the protocol. Or this system starts no thread.
struct RequestBroken: Error, StorageErrorConvertible {
    init() {}
    init(storage error: StorageError) {}
}
