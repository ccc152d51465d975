// A file of another program, read by a confined process. docs/formats/import-reader.md.

internal import COMSystem
package import OMAgentProtocol
package import OMInterchange
internal import OMRecords
internal import OMSecrets

/// The entries of a file, for a process that can hold keys of a vault. It never reads a byte of the file. Its helper does, which
/// holds no key of a vault and can open nothing.
///
///     let file = try ConfinedImport(program)
///     let found = try file.open(descriptor, as: nil, map: nil)
///     let summary = try file.read(with: key) { entry in … }
package final class ConfinedImport {
    /// How long the helper may take for one message, in milliseconds: a file can come from a program that asks a person.
    private static let longest = 24 * 3600 * 1000

    package enum Failure: Error, Hashable, Sendable {
        /// The file's error.
        case file(InterchangeError)
        /// No helper could be started; or it ended, or broke the protocol: ``AgentError/misbehaved``.
        case helper(AgentError)
    }

    private let helper: HelperProcess

    /// - Parameter program: The absolute path of the agent's program. Only this user and root may be able to change the program, or
    ///   its folder.
    package init(_ program: String) throws(Failure) {
        do throws(AgentError) { helper = try HelperProcess(try AgentProcess.check(program), "--import") } catch {
            throw .helper(error)
        }
    }

    /// Gives the helper the file, and lets it find out what is in it. Call it once.
    ///
    /// - Parameters:
    ///   - descriptor: Open for reading, of any kind. It stays open here.
    ///   - format: Nil to find out.
    ///   - map: Of a CSV file. Nil to find out.
    package func open(
        _ descriptor: Int32, as format: ForeignFormat?, map: CSVMap?
    ) throws(Failure) -> (format: ForeignFormat, needsKey: Bool) {
        var body = SecretBuffer()
        body.append(ImportOpening(format: format, map: map).encoded.span)
        try send(body, [descriptor])
        switch try reply(try receive()) {
        case .recognised(let found, let needsKey):
            guard format == nil || format == found else { throw .helper(.misbehaved) }
            return (found, needsKey)
        case .failed(let error): throw .file(error)
        case .end: throw .helper(.misbehaved)
        }
    }

    /// Passes each entry to `take`. After ``InterchangeError/wrongKey`` it can be called again.
    package func read(
        with key: borrowing ForeignKey, _ take: (ForeignEntry) -> Void
    ) throws(Failure) -> ForeignSummary {
        try send(ImportKey.encode(key), [])
        var totals = ImportTotals()
        while true {
            let frame = try receive()
            guard frame.body.withBytes({ $0.count > 0 && $0[0] == ImportReply.entryCode }) else {
                switch try reply(frame) {
                case .end(let entries, let losses, let map):
                    guard entries == totals.entries else { throw .helper(.misbehaved) }
                    return ForeignSummary(losses: losses, map: map)
                case .failed(let error): throw .file(error)
                case .recognised: throw .helper(.misbehaved)
                }
            }
            let (entry, head) = try entry(frame)
            // Attack: an attacker has taken over the helper, which sends entries without end, or names without end.
            do throws(InterchangeError) { try totals.add(entry, head: head) } catch { throw .helper(.misbehaved) }
            take(entry)
        }
    }

    /// - Parameter first: The message with the entry's names, and the start of its values.
    /// - Returns: The entry, and the bytes of its head.
    private func entry(_ first: borrowing Frame) throws(Failure) -> (ForeignEntry, head: Int) {
        var received = try Self.decoding { () throws(MalformedBytes) in
            try first.body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
                var cursor = ByteCursor()
                _ = try cursor.number(UInt8.self, in: bytes)
                let count = Int(try cursor.number(UInt32.self, in: bytes))
                guard count <= ImportEntryHead.maximumCount else { throw MalformedBytes() }
                let head = try ImportEntryHead(decoding: bytes.extracting(try cursor.skip(count, in: bytes)))
                var received = ReceivedEntry(head, count: count)
                try received.take(bytes.extracting(cursor.offset..<bytes.count))
                return received
            }
        }
        while !received.isWhole {
            let frame = try receive()
            do throws(MalformedBytes) {
                try frame.body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
                    // A part without a byte would never end.
                    guard bytes.count > 1, bytes[0] == ImportReply.moreCode else { throw MalformedBytes() }
                    try received.take(bytes.extracting(1..<bytes.count))
                }
            } catch { throw .helper(.misbehaved) }
        }
        let head = received.headCount
        return (received.finish(), head)
    }

    private func reply(_ frame: borrowing Frame) throws(Failure) -> ImportReply {
        try Self.decoding { () throws(MalformedBytes) in
            try frame.body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in try ImportReply(decoding: bytes) }
        }
    }

    private static func decoding<R: ~Copyable>(_ body: () throws(MalformedBytes) -> R) throws(Failure) -> R {
        do throws(MalformedBytes) { return try body() } catch { throw .helper(.misbehaved) }
    }

    private func send(_ body: borrowing SecretBuffer, _ descriptors: [Int32]) throws(Failure) {
        do throws(ChannelError) {
            try helper.channel.send(.question, body, descriptors: descriptors, within: AgentProtocol.frameTime)
        } catch { throw .helper(error == .deadline ? .deadline : .misbehaved) }
    }

    private func receive() throws(Failure) -> Frame {
        do throws(ChannelError) {
            let frame = try helper.channel.receive(
                start: Self.longest, frame: AgentProtocol.answerTime, maximum: ImportReply.maximumCount)
            guard let frame, frame.version == AgentProtocol.version, frame.kind == FrameKind.answer.rawValue else {
                throw .malformed
            }
            return frame
        } catch { throw .helper(error == .deadline ? .deadline : .misbehaved) }
    }
}
