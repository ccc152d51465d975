internal import OMAgent
internal import OMShell
internal import OMSync

/// Shows how far the exchange with a remote is. A class, so that a closure can advance it.
final class TransferBar {
    private var line: ProgressLine
    private let remote: UInt8

    init(for remote: UInt8, _ context: CommandContext) {
        self.remote = remote
        line = ProgressLine(isQuiet: context.output.isQuiet || context.output.format == .json)
    }

    func show(_ amount: TransferState) {
        show(read: amount.read, of: amount.toRead, written: amount.bytesWritten)
    }

    func show(_ counts: TransferStatus) {
        show(read: Int(counts.read), of: Int(counts.toRead), written: Int(clamping: counts.written))
    }

    func end() { line.end() }

    private func show(read: Int, of toRead: Int, written: Int) {
        line.show(words(read, toRead, written))
    }

    private func words(_ read: Int, _ toRead: Int, _ written: Int) -> String {
        let start = "remote \(remote): "
        // What others wrote is read first.
        if written > 0 { return start + "sent \(Self.mebibytes(written)) MiB" }
        return start + "\(ProgressLine.bar(read, of: toRead))  \(read) of \(toRead.of("pack"))"
    }

    private static func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20).\((bytes >> 10 & 1023) * 10 / 1024)" }
}
