/// The field that `get ITEM` prints: the secret that the item is kept for.
package struct MainField {
    package let item: Item

    package init(of item: Item) { self.item = item }

    /// The type's main field: `password` of a login, a database and an item without a type, `notes` of a note, `key` of an
    /// API key. If the item does not have it, its only concealed field.
    ///
    /// - Returns: nil for a type without a main field, and if the item has none or several concealed fields.
    package var name: FieldName? {
        guard hasMainField else { return nil }
        let wanted = item.details.type?.mainField ?? "password"
        if let field = item.fields.first(where: { $0.name.text == wanted }) { return field.name }
        return concealed.count == 1 ? concealed[0] : nil
    }

    /// Only these types, each with more than one secret, have no main field. A custom item is like one without a type.
    package var hasMainField: Bool {
        guard let type = item.details.type else { return true }
        return type == .custom || type.mainField != nil
    }

    package var concealed: [FieldName] { item.fields.filter { $0.shownValue == nil }.map(\.name) }
}
