/// A bar that a closure can move.
final class Progress {
    private var bar: ByteProgress

    init(total: Int?, _ door: Door) { bar = ByteProgress(total: total, isQuiet: door.output.isQuiet) }

    func add(_ count: Int) { bar.add(count) }

    func end() { bar.end() }
}
