// A limit on how many children of the tests run at once.

import Foundation

/// A counted gate. Without it, hundreds of scripts would start at once, and each would wait for all the others.
actor Gate {
    static let children = Gate(2 * ProcessInfo.processInfo.activeProcessorCount)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func enter() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
