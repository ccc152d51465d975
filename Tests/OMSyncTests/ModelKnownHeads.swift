// Which heads a device of the model accepts: the table of docs/formats/sync.md, "Head".

import OMParcels
import OMSync

extension ModelDevice {
    enum Decision {
        case isNew
        case isKnown
        case waits
        /// 31: the remote is stopped.
        case stops
        /// 31: another life of this device's file wrote it.
        case isClone
    }

    /// - Parameters:
    ///   - files: The two newest heads of a signer that the remote shows and that can be accepted, the newer one first.
    ///   - there: The digests of all heads that the remote shows, for the walks.
    func decision(on files: [ModelHead], over there: Set<UInt64>, _ rules: ModelRules) -> Decision {
        guard let head = files.first else { return .waits }
        if head.signer == number, rules.contains(.ownHeadFirst) || isOnRoll(head) {
            return decisionOnOwn(head, files.count, rules)
        }
        guard isOnRoll(head) else { return .waits }
        // The control: whatever the remote shows counts.
        guard rules.contains(.knownHeads) else { return known[head.signer] == head ? .isKnown : .isNew }
        if let before = known[head.signer] {
            // The file with the newer head is being replaced.
            if head.number < before.number { return files.count < 2 ? .waits : .stops }
            if head.number == before.number { return head == before ? .isKnown : .stops }
            if isWalk(from: head, to: before.number, over: there) {
                guard head.digest(of: before.number) == before.digest else { return .stops }
            } else {
                guard isBehindFormerLife(head, before, over: there, rules) else {
                    return rules.contains(.lateWalks) ? .waits : .stops
                }
            }
            guard head.continues(before) else { return .stops }
        } else if members.contains(where: { ($0.others[head.signer]?.number ?? 0) > head.number }) {
            return .waits
        }
        return .isNew
    }

    private func decisionOnOwn(_ head: ModelHead, _ files: Int, _ rules: ModelRules) -> Decision {
        guard rules.contains(.ownChain) else { return .isKnown }
        if head == pending?.head { return .isNew }
        guard let last, head.number <= last.number else { return .isClone }
        guard head.number == last.number else { return files < 2 ? .waits : .stops }
        return head == last ? .isKnown : .isClone
    }

    /// Whether the signer was a member, and the entry that the head names is here.
    private func isOnRoll(_ head: ModelHead) -> Bool {
        guard let roll, let entry = head.entry else { return true }
        return roll.formerOrPresent(head.signer) != nil && roll.has(entry: entry.number, entry.digest)
    }

    /// Whether all heads are here that lead from a head to an earlier one. A folder that no server lies about has them.
    private func isWalk(from head: ModelHead, to earlier: Int, over there: Set<UInt64>) -> Bool {
        guard roll != nil else { return true }
        return HeadWalk.numbers(from: UInt64(head.number), to: UInt64(earlier)).dropLast().allSatisfy { number in
            head.digest(of: Int(number)).map { there.contains($0) } ?? false
        }
    }

    /// Whether the head follows a later one than the known one, which this device named under a number that it had.
    private func isBehindFormerLife(
        _ head: ModelHead, _ before: ModelHead, over there: Set<UInt64>, _ rules: ModelRules
    ) -> Bool {
        guard let roll, rules.contains(.formerWalks) else { return false }
        return roll.formerNumbers(of: number).contains { former in
            guard let named = known[former]?.others[head.signer], named.number > before.number, named.number <= head.number,
                isWalk(from: head, to: named.number, over: there)
            else { return false }
            return head.digest(of: named.number) == named.digest
        }
    }

    /// Of a removed member only the heads count that a present one has read.
    func isNamed(_ head: ModelHead) -> Bool {
        members.contains { other in
            guard let named = other.others[head.signer], named.number >= head.number else { return false }
            return named.number > head.number || named.digest == head.digest
        }
    }

    /// The newest heads of the members that are not removed.
    private var members: [ModelHead] { known.values.filter { !removed.contains($0.signer) } }
}

extension ModelHead {
    fileprivate func continues(_ older: ModelHead) -> Bool {
        count >= older.count
            && older.others.allSatisfy { signer, old in others[signer].map { $0.number > old.number || $0 == old } ?? false }
    }
}
