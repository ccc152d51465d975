/// A progress bar for closures. A class, so that a closure can advance it.
final class Progress {
    private var bar: ByteProgress

    init(total: Int?, _ context: CommandContext) { bar = ByteProgress(total: total, isQuiet: context.output.isQuiet) }

    func add(_ count: Int) { bar.add(count) }

    func end() { bar.end() }
}
