/// A whole file of another program, as its reader makes it.
package struct ForeignContents: Sendable {
    /// In the file's order.
    package var entries: [ForeignEntry] = []
    /// What the file has beside its entries that omvault does not take over: a group's notes, icons, settings of a plug-in.
    package var losses: [ForeignLoss] = []

    package init() {}
}
