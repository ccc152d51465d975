// The process that reads a file of another program for `ConfinedImport`. It has no key of a vault. docs/formats/import-reader.md.

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
package import OMInterchange
internal import OMItems
internal import OMRecords
package import OMSecrets

package enum ImportHelper {
    /// How long the other end may take to ask for the next key: a person may look for it.
    private static let longest = 24 * 3600 * 1000
    /// The bytes of values in a message.
    static let partCount = 256 << 10

    /// Takes the descriptor of a file, confines the process, reads the file and answers with its entries. Then it ends the process.
    /// Call it right after ``AgentProcess/harden(hidesMemory:)``, while there is one thread.
    ///
    /// The exit code is 0 at the end; 2 if no process of this user is at descriptor 3; and 1 for everything else.
    ///
    /// - Parameter variables: The reader of files of variables, which another room has.
    package static func run(
        variables: (borrowing SecretBytes) throws(InterchangeError) -> ForeignEntry
    ) -> Never {
        let channel = ImportChannel(FrameChannel(HelperSocket.take()))
        guard let (opening, descriptor) = try? opening(channel) else { _exit(1) }
        ForeignReader.prepare()
        // No byte of the file has been read yet.
        guard om_limit_reader() == 0, Confinement.applyForReading() else { _exit(1) }
        do throws(InterchangeError) {
            let file = try ForeignReader(try whole(descriptor), as: opening.format)
            let needsKey = try file.needsKey()
            answer(.recognised(file.format, needsKey: needsKey), channel)
            while let key = key(channel) {
                do throws(InterchangeError) {
                    answer(try read(file, key, opening.map, variables: variables, to: channel), channel)
                } catch {
                    // Only a wrong key gets another try.
                    guard error == .wrongKey else { throw error }
                    answer(.failed(error), channel)
                }
            }
        } catch { answer(.failed(error), channel) }
        _exit(0)
    }

    private static func opening(_ channel: ImportChannel) throws(ChannelError) -> (ImportOpening, Int32) {
        let time = AgentProtocol.frameTime
        let frame = try channel.frames.receive(
            start: time, frame: time, maximum: ImportOpening.maximumCount,
            descriptors: DescriptorBudget(Int(OM_SENT_DESCRIPTORS)))
        guard let frame, frame.version == AgentProtocol.version, frame.kind == FrameKind.question.rawValue,
            let descriptor = frame.descriptors?.takeOnly()
        else { throw .malformed }
        let opening = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try ImportOpening(decoding: bytes) } catch { throw .malformed }
        }
        return (opening, descriptor)
    }

    /// Nil at the end. The process ends after bytes that are no request.
    private static func key(_ channel: ImportChannel) -> ForeignKey? {
        do throws(ChannelError) {
            let frame = try channel.frames.receive(
                start: longest, frame: AgentProtocol.frameTime, maximum: ImportKey.maximumCount)
            guard let frame else { return nil }
            guard frame.version == AgentProtocol.version, frame.kind == FrameKind.question.rawValue else { _exit(1) }
            return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
                do throws(MalformedBytes) { return try ImportKey.decode(bytes) } catch { throw .malformed }
            }
        } catch { _exit(1) }
    }

    private static func whole(_ descriptor: Int32) throws(InterchangeError) -> SecretBytes {
        var status = stat()
        let count = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
        guard count <= ForeignReader.maximumCount else { throw .tooMuch("bytes of the file") }
        var buffer = SecretBuffer(capacity: count + (64 << 10) + 1)
        while true {
            let before = buffer.count
            buffer.append(upTo: 64 << 10) { free in
                let got = free.withUnsafeMutableBytes { target in
                    var got = Glibc.read(descriptor, target.baseAddress, target.count)
                    while got < 0, errno == EINTR { got = Glibc.read(descriptor, target.baseAddress, target.count) }
                    return got
                }
                if got < 0 { _exit(1) }
                return got
            }
            guard buffer.count <= ForeignReader.maximumCount else { throw .tooMuch("bytes of the file") }
            if buffer.count == before { return buffer.finish() }
        }
    }

    private static func read(
        _ file: borrowing ForeignReader, _ key: borrowing ForeignKey, _ map: CSVMap?,
        variables: (borrowing SecretBytes) throws(InterchangeError) -> ForeignEntry, to channel: ImportChannel
    ) throws(InterchangeError) -> ImportReply {
        var totals = ImportTotals()
        let summary = try file.read(with: key, map: map, variables: variables) { entry throws(InterchangeError) in
            let head = try ImportEntryHead.encode(entry)
            try totals.add(entry, head: head.count)
            send(entry, head, channel)
        }
        return .end(entries: UInt32(totals.entries), losses: summary.losses, map: summary.map)
    }

    /// Sends the names first, then the values in parts.
    private static func send(_ entry: ForeignEntry, _ head: [UInt8], _ channel: ImportChannel) {
        var message = SecretBuffer(capacity: head.count + (4 << 10))
        message.append(ImportReply.entryCode)
        message.append(number: UInt32(head.count))
        message.append(head.span)
        // The bytes of values in this message.
        var used = 0
        for field in entry.fields {
            field.value.withBytes { bytes in
                var start = 0
                while start < bytes.count {
                    let end = min(bytes.count, start + partCount - used)
                    message.append(bytes.extracting(start..<end))
                    (used, start) = (used + end - start, end)
                    guard used == partCount else { continue }
                    send(message, channel)
                    message.removeAll()
                    message.append(ImportReply.moreCode)
                    used = 0
                }
            }
        }
        // Behind a full message nothing may be left.
        if message.count > 1 { send(message, channel) }
    }

    private static func send(_ message: borrowing SecretBuffer, _ channel: ImportChannel) {
        do throws(ChannelError) { try channel.frames.send(.answer, message, within: longest) } catch { _exit(1) }
    }

    private static func answer(_ reply: ImportReply, _ channel: ImportChannel) {
        var body = SecretBuffer()
        body.append(reply.encoded.span)
        send(body, channel)
    }
}

/// The socket to the command, for closures.
private final class ImportChannel {
    let frames: FrameChannel

    init(_ frames: consuming FrameChannel) { self.frames = frames }
}
