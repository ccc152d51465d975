// The heads that this device signs for one remote. Format: docs/formats/sync.md, "Head".

/// What the next own head needs of those before it.
package struct OwnHeads: Hashable, Sendable {
    /// The number of this device.
    package let device: UInt32
    /// The newest head, the one to which its `skip` leads, and so on: by falling number. The next `skip` leads to one of these.
    package private(set) var references: [Head.Reference]

    /// - Parameter references: As they were stored; none before the first head.
    /// - Returns: nil if one is not the head to which the `skip` of the one before leads.
    package init?(of device: UInt32, _ references: [Head.Reference] = []) {
        var expected = references.first?.number ?? 0
        for reference in references {
            guard reference.device == device, reference.number == expected, expected > 0 else { return nil }
            expected = Head.skipped(from: expected)
        }
        guard expected == 0 else { return nil }
        (self.device, self.references) = (device, references)
    }

    package var nextNumber: UInt64 { (references.first?.number ?? 0) + 1 }
    package var nextPrevious: [UInt8] { digest(of: nextNumber - 1) }
    package var nextSkip: [UInt8] { digest(of: Head.skipped(from: nextNumber)) }

    /// Notes the next head, once it is on the remote.
    package mutating func append(_ head: Head) {
        precondition(head.statement.device == device && head.statement.number == nextNumber, "a chain has no gap")
        let skipped = Head.skipped(from: nextNumber)
        let next = Head.Reference(device: device, number: nextNumber, digest: head.digest)
        references = [next] + references.drop { $0.number > skipped }
    }

    /// Zeros where there is no such head.
    private func digest(of number: UInt64) -> [UInt8] {
        references.first { $0.number == number }?.digest ?? [UInt8](repeating: 0, count: 32)
    }
}
