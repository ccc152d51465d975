package import OMParcels

extension SyncStatus {
    /// The same with names of members that this process could not open itself.
    ///
    /// - Parameter names: A text that is not the name of a device is left out.
    package func naming(_ names: [UInt32: String]) -> SyncStatus {
        let named = members.map { member in
            MemberStatus(
                number: member.number, kind: member.kind,
                name: member.name ?? names[member.number].flatMap { DeviceName($0) }, isThis: member.isThis,
                added: member.added)
        }
        return SyncStatus(
            vault: vault, own: own, members: named, remotes: remotes, roll: roll, recoveryChange: recoveryChange)
    }
}
