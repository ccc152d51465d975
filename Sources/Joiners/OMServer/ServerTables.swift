#if Server
// All tables of the server. docs/formats/server-protocol.md, "Store".

package import OMServerStore

package enum ServerTables {
    /// A later version adds a step. A step that was released never changes.
    package static let schema = StoreSchema(steps: [
        AccountTable.statements + StrangerTable.statements + GrantTable.statements + PolicyTable.statements
            + SDKTokenTable.statements + QuestionTable.statements + RemoteTable.statements + EntryTable.statements
            + HeadTable.statements + PackTable.statements + MessageTable.statements
    ])
}
#endif
