// The XML inside KDBX, which is also KeePass's plain export. It is read as it comes, without a tree.

internal import OMSecrets

/// Makes entries of the XML.
final class KeePassXML: XMLHandler {
    /// What the open elements are.
    private enum Place {
        case file, meta, binaries, icons, root, group, entry, times, field, attachment, autoType, history
        case data, datum, groupTimes
        /// An element whose text is wanted.
        case leaf(Leaf)
        /// An element with all that is in it.
        case skipped
    }

    private enum Leaf {
        case headerHash, recycleBin, content(String, isCompressed: Bool)
        case groupID, groupName, groupIcon, groupExpires, groupMember(String)
        case entryID, icon, tags, entryMember(String), time(String)
        case name, value(isConcealed: Bool), attachmentValue(isCompressed: Bool)
        case autoTypeMember(unless: String)
        case datumName, datumValue
    }

    private struct Group {
        var name = ""
        /// Whether it is in the trash, or is the trash.
        var isTrashed = false
        /// Whether its name is one of an entry's folders.
        var isFolder = true
        var hasContent = false
        var members: Set<String> = []
    }

    private(set) var headerHash: String?
    private var contents = ForeignContents()
    private let limits: KeePassLimits
    /// The cipher of protected values. Nil for a plain export, which marks its values and does not encrypt them.
    private let stream: KeyStream?
    /// The contents of attachments, by their numbers.
    private var attachments: [String: ForeignField]

    private var places: [Place] = []
    private var text = SecretBuffer(capacity: 1 << 12)
    private var takesText = false
    private var isProtected = false

    private var hasRoot = false
    private var hasRootGroup = false
    private var hasIcons = false
    private var recycleBin: String?
    private var groups: [Group] = []
    private var entry = KeePassEntry()
    private var ids: [String] = []
    private var withAttachments: [(entry: Int, attachments: [(name: String, content: String)])] = []
    private var withReferences: [Int] = []
    private var withOneTimePasswords: [Int] = []
    private var versions = 0
    /// Of everything that ``KeePassLimits/fields`` counts.
    private var fieldCount = 0
    /// Bytes of attachments and of values that entries may still get.
    private var left: Int
    /// Bytes that may still be unpacked in the list of attachments.
    private var leftOfList: Int

    // The field, attachment or plug-in's datum that is open.
    private var name = ""
    private var value: SecretBytes?
    private var isConcealed = false
    private var datum = ""
    private var reference: String?

    /// - Parameter attachments: Those of the inner header of KDBX 4, in its order.
    init(stream: KeyStream?, attachments: [ForeignField], _ limits: KeePassLimits) {
        (self.stream, self.limits) = (stream, limits)
        (left, leftOfList) = (limits.attachmentBytes, limits.attachmentBytes)
        self.attachments = Dictionary(uniqueKeysWithValues: attachments.enumerated().map { ("\($0.offset)", $0.element) })
    }

    // MARK: - Elements

    func start(_ element: String, _ attributes: XMLAttributes) throws(InterchangeError) {
        if takesText { throw .damaged("a value with an element in it") }
        let place = try place(element, attributes)
        places.append(place)
        // Each value that is protected takes its part of the stream, wherever it is and whether it is wanted.
        isProtected = attributes.isTrue("Protected") && stream != nil
        if case .leaf = place { takesText = true } else { takesText = isProtected }
    }

    func text(_ piece: Span<UInt8>) {
        if takesText { text.append(piece) }
    }

    func end() throws(InterchangeError) {
        guard let place = places.popLast() else { return }
        if takesText {
            takesText = false
            let wasProtected = isProtected
            isProtected = false
            if wasProtected {
                let value = try unprotected()
                if case .leaf(let leaf) = place { try finish(leaf, value, isDecoded: true) }
            } else if case .leaf(let leaf) = place {
                switch leaf {
                case .value, .attachmentValue, .content:
                    try finish(leaf, text.withBytes { SecretBytes(copying: $0) }, isDecoded: false)
                default: try finish(leaf, text: text.withBytes { KeePassText.string($0) })
                }
            }
            text.removeAll()
            return
        }
        try finish(place)
    }

    private func place(_ element: String, _ attributes: XMLAttributes) throws(InterchangeError) -> Place {
        guard let parent = places.last else {
            guard element == "KeePassFile" else { throw .otherFormat }
            return .file
        }
        switch parent {
        case .file: return try inFile(element)
        case .meta: return inMeta(element)
        case .binaries:
            guard element == "Binary", let id = attributes["ID"] else { return .skipped }
            return .leaf(.content(id, isCompressed: attributes.isTrue("Compressed")))
        case .icons:
            hasIcons = true
            return .skipped
        case .root:
            guard element == "Group" else { return .skipped }
            guard groups.isEmpty, !hasRootGroup else { throw .damaged("a second outermost group") }
            hasRootGroup = true
            try openGroup()
            return .group
        case .group: return try inGroup(element)
        case .entry: return try inEntry(element)
        case .times: return .leaf(.time(element))
        case .groupTimes: return element == "Expires" ? .leaf(.groupExpires) : .skipped
        case .field:
            switch element {
            case "Key": return .leaf(.name)
            case "Value":
                return .leaf(.value(isConcealed: attributes.isTrue("Protected") || attributes.isTrue("ProtectInMemory")))
            default: return .skipped
            }
        case .attachment:
            switch element {
            case "Key": return .leaf(.name)
            case "Value":
                reference = attributes["Ref"]
                return .leaf(.attachmentValue(isCompressed: attributes.isTrue("Compressed")))
            default: return .skipped
            }
        case .autoType:
            switch element {
            case "Enabled": return .leaf(.autoTypeMember(unless: "true"))
            case "DataTransferObfuscation": return .leaf(.autoTypeMember(unless: "0"))
            case "DefaultSequence": return .leaf(.autoTypeMember(unless: ""))
            case "Association":
                entry.lose(.autoType)
                return .skipped
            default: return .skipped
            }
        case .history:
            if element == "Entry" { versions += 1 }
            return .skipped
        case .data:
            guard element == "Item" else { return .skipped }
            try countFields(1)
            return .datum
        case .datum:
            switch element {
            case "Key": return .leaf(.datumName)
            case "Value": return .leaf(.datumValue)
            default: return .skipped
            }
        case .leaf, .skipped: return .skipped
        }
    }

    private func inFile(_ element: String) throws(InterchangeError) -> Place {
        switch element {
        case "Meta":
            // Otherwise nothing says what is in the trash before the entries are made.
            guard !hasRoot else { throw .damaged("the order of its parts") }
            return .meta
        case "Root":
            guard !hasRoot else { throw .damaged("a second root") }
            hasRoot = true
            return .root
        default: return .skipped
        }
    }

    private func inMeta(_ element: String) -> Place {
        switch element {
        case "HeaderHash": .leaf(.headerHash)
        case "RecycleBinUUID": .leaf(.recycleBin)
        case "Binaries": .binaries
        case "CustomIcons": .icons
        case "CustomData": .data
        default: .skipped
        }
    }

    private func inGroup(_ element: String) throws(InterchangeError) -> Place {
        switch element {
        case "UUID", "Name":
            guard !groups[groups.count - 1].hasContent else { throw .damaged("the order of its parts") }
            return .leaf(element == "UUID" ? .groupID : .groupName)
        case "Group":
            groups[groups.count - 1].hasContent = true
            try openGroup()
            return .group
        case "Entry":
            groups[groups.count - 1].hasContent = true
            guard contents.entries.count < limits.entries else { throw .tooMuch("entries") }
            (entry, versions) = (KeePassEntry(), 0)
            return .entry
        case "Notes", "Tags", "CustomIconUUID", "DefaultAutoTypeSequence": return .leaf(.groupMember(element))
        case "IconID": return .leaf(.groupIcon)
        case "Times": return .groupTimes
        case "CustomData": return .data
        default: return .skipped
        }
    }

    private func inEntry(_ element: String) throws(InterchangeError) -> Place {
        switch element {
        case "String", "Binary":
            try countFields(1)
            (name, isConcealed, reference) = ("", false, nil)
            value = nil
            return element == "String" ? .field : .attachment
        case "UUID": return .leaf(.entryID)
        case "IconID": return .leaf(.icon)
        case "Tags": return .leaf(.tags)
        case "Times": return .times
        case "AutoType": return .autoType
        case "History": return .history
        case "CustomData": return .data
        case "CustomIconUUID", "ForegroundColor", "BackgroundColor", "OverrideURL", "QualityCheck":
            return .leaf(.entryMember(element))
        case "PreviousParentGroup": return .skipped
        default:
            try countFields(1)
            entry.lose(.member(element))
            return .skipped
        }
    }

    private func openGroup() throws(InterchangeError) {
        guard groups.count < limits.groupLevels else { throw .tooMuch("levels of groups") }
        var group = Group()
        if let around = groups.last { group.isTrashed = around.isTrashed } else { group.isFolder = false }
        groups.append(group)
    }

    /// Attack: small elements of which each takes far more memory than its text.
    private func countFields(_ count: Int) throws(InterchangeError) {
        fieldCount += count
        guard fieldCount <= limits.fields else { throw .tooMuch("fields") }
    }
}

// MARK: - Ends

extension KeePassXML {
    private func unprotected() throws(InterchangeError) -> SecretBytes {
        guard let stream else { return text.withBytes { SecretBytes(copying: $0) } }
        let encrypted = try KeePassText.base64(text.withBytes { SecretBytes(copying: $0) })
        return encrypted.withBytes { stream.apply($0) }
    }

    /// - Parameter isDecoded: Whether the value was protected, and is out of its base64.
    private func finish(_ leaf: Leaf, _ value: consuming SecretBytes, isDecoded: Bool) throws(InterchangeError) {
        switch leaf {
        case .value(let isConcealed):
            self.value = consume value
            self.isConcealed = isConcealed
        case .attachmentValue(let isCompressed):
            guard reference == nil else { return }
            self.value = try attached(isDecoded ? value : KeePassText.base64(value), isCompressed, &left)
        case .content(let id, let isCompressed):
            guard attachments[id] == nil else { throw .damaged("two attachments with one number") }
            let content = try attached(isDecoded ? value : KeePassText.base64(value), isCompressed, &leftOfList)
            attachments[id] = ForeignField("", .attachment, isConcealed: true, content)
        default: try finish(leaf, text: value.withBytes { KeePassText.string($0) })
        }
    }

    private func finish(_ leaf: Leaf, text: String) throws(InterchangeError) {
        switch leaf {
        case .headerHash: headerHash = text
        case .recycleBin: recycleBin = text
        case .groupID:
            if text == recycleBin, !text.isEmpty {
                groups[groups.count - 1].isTrashed = true
                groups[groups.count - 1].isFolder = false
            }
        case .groupName: groups[groups.count - 1].name = text
        // The usual icons of a group, of the outermost one and of the recycle bin.
        case .groupIcon: if !["", "0", "43", "48", "49"].contains(text) { hasIcons = true }
        case .groupExpires: if text.lowercased() == "true" { groups[groups.count - 1].members.insert("Expires") }
        case .groupMember(let member): if !text.isEmpty { groups[groups.count - 1].members.insert(member) }
        case .entryID: entry.id = text
        case .icon: if text != "0", !text.isEmpty { entry.lose(.icon) }
        case .tags:
            entry.entry.tags = try KeePassText.tags(text, atMost: limits.fields)
            try countFields(entry.entry.tags.count)
        case .entryMember(let member):
            if member == "CustomIconUUID" {
                if !text.isEmpty { entry.lose(.icon) }
            } else if !text.isEmpty, member != "QualityCheck" || text.lowercased() != "true" {
                entry.lose(.member(member))
            }
        case .time(let name): entry.add(time: name, text)
        case .name, .datumName: name = text
        case .autoTypeMember(let usual): if text.lowercased() != usual { entry.lose(.autoType) }
        case .datumValue: datum = text
        case .value, .attachmentValue, .content: break
        }
    }

    private func finish(_ place: Place) throws(InterchangeError) {
        switch place {
        case .field:
            entry.add(name, value.take() ?? SecretBytes(copying: []), isConcealed: isConcealed)
        case .attachment:
            if let reference {
                entry.references.append((name, reference))
            } else {
                entry.add(name, content: value.take() ?? SecretBytes(copying: []))
            }
        case .datum: finishDatum()
        case .entry: finishEntry()
        case .group: try finishGroup()
        default: break
        }
    }

    private func finishDatum() {
        // The datum is closed, and its list is open.
        switch places.dropLast().last {
        case .entry: entry.add(customData: name, datum)
        case .group: groups[groups.count - 1].members.insert("CustomData")
        // KeePassXC's own settings.
        default:
            if !name.hasPrefix("KPXC_"), !name.hasPrefix("_") { contents.losses.append(.member("CustomData/\(name)")) }
        }
        (name, datum) = ("", "")
    }

    private func finishEntry() {
        entry.finish(versions: versions)
        entry.entry.folders = groups.filter(\.isFolder).map(\.name)
        entry.entry.isTrashed = groups.last?.isTrashed ?? false
        if !entry.references.isEmpty { withAttachments.append((contents.entries.count, entry.references)) }
        if entry.refers { withReferences.append(contents.entries.count) }
        if entry.hasOneTimePassword { withOneTimePasswords.append(contents.entries.count) }
        contents.entries.append(entry.entry)
        ids.append(entry.id)
    }

    private func finishGroup() throws(InterchangeError) {
        guard let group = groups.popLast() else { return }
        for member in group.members.sorted() {
            if member == "CustomIconUUID" {
                hasIcons = true
            } else {
                try countFields(1)
                // Not the whole path, and not a whole long name: they would take far more memory than the file.
                contents.losses.append(.member("\(member) of the group \(KeePassText.start(of: group.name))"))
            }
        }
    }

    private func attached(
        _ content: consuming SecretBytes, _ isCompressed: Bool, _ left: inout Int
    ) throws(InterchangeError) -> SecretBytes {
        guard isCompressed, content.count > 0 else { return content }
        let unpacked = try Unpacking(content, isCompressed: true, atMost: left).rest()
        left -= unpacked.count
        return unpacked
    }
}

// MARK: - The whole

extension KeePassXML {
    /// The file, after its last byte was read.
    func finished() throws(InterchangeError) -> ForeignContents {
        guard hasRootGroup else { throw .damaged("its root, which is missing") }
        if hasIcons { contents.losses.append(.icon) }
        for (number, references) in withAttachments {
            for (name, id) in references {
                guard let content = attachments[id] else {
                    contents.entries[number].losses.append(.attachment(name))
                    continue
                }
                // Attack: many entries refer to one large attachment.
                guard content.value.count <= left else { throw .tooMuch("bytes of attachments") }
                left -= content.value.count
                contents.entries[number].fields.append(
                    ForeignField(name, .attachment, isConcealed: true, content.value.duplicate()))
            }
        }
        if !withReferences.isEmpty {
            var references = KeePassReferences(ids: ids, atMost: left)
            for number in withReferences { try references.resolve(number, in: &contents.entries) }
        }
        // Their labels have the user name, which can be a reference.
        for number in withOneTimePasswords { KeePassOneTimePassword.fit(&contents.entries[number]) }
        return contents
    }
}
