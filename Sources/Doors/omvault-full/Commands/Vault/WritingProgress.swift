internal import Glibc
internal import OMItems
internal import OMShell
internal import OMSystem
internal import OMVault
internal import Synchronization

/// Shows how much of its large values a change has read. The change runs on the caller's thread or in the agent. Another
/// thread looks at the values' files, whose positions both share.
final class WritingProgress: Sendable {
    private let bar: Mutex<ByteProgress?>
    private let values: [SpooledValue]

    /// Shows the progress of a change while `body` makes it. The change is handed over, so it is made once.
    static func show<R: ~Copyable>(
        _ change: consuming ItemChange, _ context: CommandContext, _ body: (consuming ItemChange) throws(Failure) -> R
    ) throws(Failure) -> R {
        let values = change.set.spooled.map(\.value)
        guard !values.isEmpty, StandardError.showsProgress, !context.output.isQuiet else { return try body(change) }
        let progress = WritingProgress(values)
        // Without a thread there is no bar.
        _ = DetachedThread.start { progress.run() }
        defer { progress.end() }
        return try body(change)
    }

    private init(_ values: [SpooledValue]) {
        self.values = values
        bar = Mutex(ByteProgress(total: values.reduce(0) { $0 + $1.count }, isQuiet: false))
    }

    private func run() {
        var shown = 0
        while true {
            let isOver = bar.withLock { bar in
                guard bar != nil else { return true }
                let done = values.reduce(0) { $0 + $1.readCount }
                bar?.add(done - shown)
                shown = done
                return false
            }
            guard !isOver else { return }
            usleep(100_000)
        }
    }

    private func end() {
        bar.withLock { bar in
            bar?.end()
            bar = nil
        }
    }
}
