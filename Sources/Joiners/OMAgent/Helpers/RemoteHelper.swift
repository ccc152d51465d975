// The helper of a remote: a process that is started when it is needed, and asked until it makes an error.

internal import COMSystem
internal import OMAgentProtocol
internal import OMSecrets
internal import OMSystem

/// A confined process that serves one remote. The first call starts it, and the end of this value ends it. One thread at a time
/// uses the value.
final class RemoteHelper {
    private let program: String
    private let option: String
    private let time: Int
    private let interruption: Interruption?
    private var helper: RunningHelper?

    /// - Parameters:
    ///   - program: The absolute path of the agent's program. Only this user and root may be able to change the program, or its
    ///     folder.
    ///   - option: The program's only argument.
    ///   - time: How long a call may take, in milliseconds.
    ///   - interruption: Lets another thread end a call early.
    init(_ program: String, _ option: String, within time: Int, unless interruption: Interruption?) {
        (self.program, self.option, self.time, self.interruption) = (program, option, time, interruption)
    }

    /// Starts the helper if none runs, with the requests of `opening`, and asks it. The helper ends with any error that one of both
    /// throws. The next call starts another one.
    func call<R: ~Copyable>(
        opening: (borrowing HelperCall) throws(RemoteFailure) -> Void,
        _ body: (borrowing HelperCall) throws(RemoteFailure) -> R
    ) throws(RemoteFailure) -> R {
        let end = bootMilliseconds() + Int64(time)
        do throws(RemoteFailure) {
            if let helper { return try body(HelperCall(helper, until: end, interruption)) }
            let new = try RunningHelper(program, option, interruption)
            let call = HelperCall(new, until: end, interruption)
            helper = new
            try opening(call)
            return try body(call)
        } catch {
            helper = nil
            throw interruption?.isAsked == true ? .interrupted : error
        }
    }

    /// Ends the process, if one runs.
    func end() { helper = nil }
}

/// The requests of one call.
struct HelperCall: ~Copyable {
    /// How long a wait goes on before it looks at the interruption, in milliseconds: the usual one, and one of most of a minute.
    private static let (pause, longPause): (Int64, Int64) = (50, 500)

    private let helper: RunningHelper
    private let end: Int64
    private let interruption: Interruption?

    fileprivate init(_ helper: RunningHelper, until end: Int64, _ interruption: Interruption?) {
        (self.helper, self.end, self.interruption) = (helper, end, interruption)
    }

    /// - Parameters:
    ///   - maximum: The most bytes of the answer.
    ///   - isLong: Whether the answer may take most of a minute. Then an interruption is noticed later.
    borrowing func ask(_ message: [UInt8], upTo maximum: Int, isLong: Bool = false) throws(RemoteFailure) -> [UInt8] {
        let (channel, end) = (helper.process.channel.descriptor, end)
        try Self.naming { () throws(ChannelError) in
            try RemoteMessage.send(message, .question, over: helper.process.channel, until: end)
        }
        try awaitReply(channel, lookingEvery: isLong ? Self.longPause : Self.pause)
        return try Self.naming { () throws(ChannelError) in
            let reply = try RemoteMessage.receive(.answer, upTo: maximum, from: helper.process.channel, until: end)
            guard let reply else { throw .ended }
            return reply
        }
    }

    /// The same with a secret in the request, and perhaps in the answer. Each has one part.
    borrowing func ask(secret message: borrowing SecretBytes, upTo maximum: Int) throws(RemoteFailure) -> SecretBytes {
        let end = end
        do throws(ChannelError) {
            try RemoteMessage.send(secret: message, .question, over: helper.process.channel, until: end)
        } catch { throw Self.failure(error) }
        try awaitReply(helper.process.channel.descriptor, lookingEvery: Self.pause)
        do throws(ChannelError) {
            return try RemoteMessage.receiveSecret(.answer, upTo: maximum, from: helper.process.channel, until: end)
        } catch { throw Self.failure(error) }
    }

    private static func naming<R>(_ body: () throws(ChannelError) -> R) throws(RemoteFailure) -> R {
        do throws(ChannelError) { return try body() } catch { throw failure(error) }
    }

    private static func failure(_ error: ChannelError) -> RemoteFailure {
        .helper(error == .deadline ? .deadline : .misbehaved)
    }

    private borrowing func awaitReply(_ descriptor: Int32, lookingEvery pause: Int64) throws(RemoteFailure) {
        while true {
            if interruption?.isAsked == true { throw .interrupted }
            let left = end - bootMilliseconds()
            switch om_socket_wait(descriptor, -1, Int32(max(0, min(left, pause)))) {
            case 0: if left <= 0 { throw .helper(.deadline) }
            case 1: return
            default: throw .helper(.misbehaved)
            }
        }
    }
}

/// A started helper.
private final class RunningHelper {
    let process: HelperProcess

    init(_ program: String, _ option: String, _ interruption: Interruption?) throws(RemoteFailure) {
        do throws(AgentError) {
            // The helper may be in a call of a share that does not answer, which no signal ends.
            process = try HelperProcess(try AgentProcess.check(program), option, waits: false, interruption: interruption)
        } catch { throw .helper(error) }
    }
}
