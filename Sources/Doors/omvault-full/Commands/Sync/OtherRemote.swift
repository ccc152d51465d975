// A remote beside those that this device uses: another device made it, because one was lost or put back.

internal import OMParcels
internal import OMRemote
internal import OMShell
internal import OMSync
internal import OMVault

/// A remote of this vault in a folder or on a server that this device does not use and never wrote to.
struct OtherRemote {
    let name: RemoteFolderName
    /// The newest head there of each present member: only heads that it signed for this remote.
    private let heads: [UInt32: Head]

    fileprivate init(_ name: RemoteFolderName, _ contents: RemoteContents, _ roll: Roll) {
        self.name = name
        var newest: [UInt32: Head] = [:]
        for (device, heads) in contents.heads {
            guard let member = roll.members[device] else { continue }
            newest[device] = heads.first { head in
                head.isSigned(by: member.keys.head) && head.statement.incarnation == name.incarnation
            }
        }
        heads = newest
    }

    /// Who wrote there, in words.
    func writers(_ status: SyncStatus, _ output: Output) -> String {
        let writers = heads.sorted { $0.key < $1.key }.map { device, head in
            "\"\(status.name(of: device).shown)\" at \(output.time(head.statement.time))"
        }
        return writers.isEmpty
            ? "no device of this vault wrote to \(name.text) yet"
            : "written to \(name.text): \(writers.joined(separator: ", "))"
    }

    /// Whether the other devices use this one: a device wrote here later than to the remote of this device.
    ///
    /// Accident: two devices make a new remote at the same time. If each accepted that of the other one, they would never meet.
    /// So a device on whose remote no other one wrote goes to the smaller name.
    func isInUse(beside remote: SyncStatus.Remote, of status: SyncStatus) -> Bool {
        let isAlone = remote.news.keys.allSatisfy { $0 == status.own.device }
        guard !isAlone || name.incarnation.lexicographicallyPrecedes(remote.row.incarnation) else { return false }
        return heads.contains { device, head in head.statement.time > remote.news[device] ?? .min }
    }
}

extension RemotePlace {
    func otherRemotes(_ status: SyncStatus) throws(Failure) -> [OtherRemote] {
        let known = status.remotes.map(\.row.incarnation)
        var found: [OtherRemote] = []
        for name in try remotes(of: status.vault) where !known.contains(name.incarnation) {
            let contents = try run { try RemoteContents(reading: store(name), vault: status.vault) }
            // A forgotten remote has heads of this device that it does not know any more. It would be taken for its own clone.
            guard contents.founding == status.roll.entries[0], contents.heads[status.own.device] == nil else { continue }
            found.append(OtherRemote(name, contents, status.roll))
        }
        return found
    }
}
