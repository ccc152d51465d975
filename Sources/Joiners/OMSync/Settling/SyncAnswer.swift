// The user's answers to what sync leaves open. Format: docs/formats/sync.md, "Questions".

package import OMItems

/// The user's answer to open questions.
package enum SyncAnswer: Hashable, Sendable {
    /// Of a conflict copy: it goes to the trash. Of a held version: it is dropped.
    case keepItem
    /// Of a conflict copy: the item gets its content, and the copy goes to the trash.
    case keepCopy
    /// Of a conflict copy: it becomes an item of its own with this name. Nil for a held version, which becomes a conflict copy.
    case keepBoth(ItemName?)
    /// Of a change that the brake holds: it is applied.
    case accept
    /// Of such a change: the item here is written again, and wins everywhere.
    case refuse
    /// Of a name: it means its item from now on. Of an entry of the roll: it counts.
    case confirm
}

extension SyncAnswer {
    /// Whether a question can have this answer.
    package func fits(_ subject: OpenQuestion.Kind) -> Bool {
        switch (subject, self) {
        case (.copy, .keepItem), (.copy, .keepCopy), (.copy, .keepBoth(_?)), (.held, .keepItem), (.held, .keepBoth(nil)),
            (.braked, .accept), (.braked, .refuse), (.meaning, .confirm), (.entry, .confirm):
            true
        default: false
        }
    }
}
