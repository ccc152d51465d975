internal import ArgumentParser
internal import OMItems
internal import OMVault

/// `K=V`: a condition on an item's type, its tags or a shown field.
///
/// It never sees a concealed value. Attack: other programs of the user read a secret in the arguments of a command.
struct AttributeArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .conditions }

    let text: String

    init(argument: String) { text = argument }

    enum Condition {
        case type(ItemType)
        case tag(ItemTag)
        case field(FieldName, String)

        func holds(for item: Item) -> Bool {
            switch self {
            case .type(let type): item.details.type == type
            case .tag(let tag): item.details.tags.contains(tag)
            case .field(let name, let value):
                item.fields.contains { field in
                    field.name == name && field.shownValue?.utf8.elementsEqual(value.utf8) == true
                }
            }
        }
    }

    func condition() throws -> Condition {
        guard let separator = text.firstIndex(of: "=") else { throw Self.form }
        let (name, value) = (String(text[..<separator]), String(text[text.index(after: separator)...]))
        switch name {
        case "type":
            guard let type = ItemType(rawValue: value) else {
                throw ValidationError("--attr type= takes \(ItemType.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return .type(type)
        case "tag": return .tag(try TagArgument(argument: value).tag())
        default:
            // The value is not repeated, because it may be a secret that was typed by mistake.
            do throws(VaultError) { return .field(try FieldName(name), value) } catch { throw Self.form }
        }
    }

    private static var form: ValidationError {
        ValidationError("--attr takes NAME=VALUE; the name is 'type', 'tag' or that of a field")
    }
}
