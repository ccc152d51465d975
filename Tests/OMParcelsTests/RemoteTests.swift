// The files of a remote: their names, what of them is read, and what a device accepts of them.

import OMParcels
import OMRecords
import OMSecrets
import TestSupport
import Testing

/// A remote in memory. `files` are all that ever were; `there` are those that have arrived.
private struct MemoryRemote: RemoteFiles {
    var there: [RemoteFile: [UInt8]] = [:]

    func files() throws(Never) -> [RemoteFile] { Array(there.keys) }
    func bytes(of file: RemoteFile) throws(Never) -> [UInt8]? {
        there[file].flatMap { $0.count <= file.maximumCount ? $0 : nil }
    }
    func has(_ reference: Head.PackReference, of device: UInt32) -> Bool {
        there[.pack(device: device, number: reference.number)].map { Pack.digest(of: $0) == reference.digest } ?? false
    }
}

@Suite("The files of a remote") struct RemoteTests {
    @Test("each file has one name, and every other name is none of a remote's")
    func names() {
        let digest = (0..<32).map { UInt8($0 * 8) }
        let files: [RemoteFile] = [
            .founding, .entry(number: 0x12, digest: digest), .head(device: 0xABCD_EF01, isSecond: false),
            .head(device: 1, isSecond: true), .headCopy(device: 1, name: "head.sync-conflict-20261126-é"), .heads(device: 2),
            .pack(device: 3, number: 0x0102_0304_0506_0708), .message(mailbox: bytes(0xFE, 16), number: 4),
        ]
        for file in files { #expect(RemoteFile(path: file.path) == file, "\(file.path)") }
        #expect(RemoteFile.pack(device: 3, number: 9).path == "00000003/0000000000000009.pack")
        let others = [
            "", "Remote", "remote/", "/remote", "roll", "roll/00000012", "roll/00000012-",
            "roll/00000012-\(String(repeating: "A", count: 64))",
            "ABCDEF01/head", "1/head", "00000000/head", "00000001/Head", "00000001/.head", "00000001//head", "../00000001/head",
            "00000001/x/head", "00000001/0000000000000000.pack", "00000001/00000009.pack", "00000001/000000000000000G.pack",
            "mail/\(String(repeating: "a", count: 32))-5", "mail/\(String(repeating: "a", count: 31))-1", "00000001/head\u{0}",
        ]
        for path in others { #expect(RemoteFile(path: path) == nil, "\(path)") }
        #expect(
            RemoteFile.folder(vault: bytes(1, 16), incarnation: bytes(0xAB, 16))
                == "omvault-sync-01010101010101010101010101010101-abababababababababababababababab")
    }

    /// What devices 10 and 20 wrote, in the order in which they did; after each step the remote was whole.
    private struct Story {
        var roll: Roll
        var steps: [(file: RemoteFile, bytes: [UInt8])] = []
        var chains: [UInt8: [Head]] = [10: [], 20: []]
        let incarnation = bytes(2, 16)

        init() throws {
            roll = try foundedRoll()
            steps.append((.founding, roll.entries[0].encoded))
            try push(10)
            let added = member(20)
            try roll.append(NextEntry(kind: .add, added: [added], wraps: wraps([added], laneEpoch: 1)).entry(after: roll))
            let entry = roll.entries[1]
            steps.append((.entry(number: 1, digest: entry.digest), entry.encoded))
            for byte: UInt8 in [10, 20, 20, 10, 20, 10, 20] { try push(byte) }
        }

        mutating func push(_ byte: UInt8) throws {
            let (chain, device) = (chains[byte, default: []], member(byte).number)
            let number = UInt64(chain.count) + 1
            let parcel = Parcel(
                header: Parcel.Header(id: bytes(UInt8(number), 16), laneEpoch: 1, salt: bytes(byte, 16), commitment: bytes(2)),
                box: bytes(3, Record.boxOverhead + Record.step))
            let pack = Pack(vault: vault, device: device, number: number, parcels: [parcel]).encoded
            steps.append((.pack(device: device, number: number), pack))
            let other = chains.first { $0.key != byte }?.value.last
            let skipped = Int(Head.skipped(from: number))
            let statement = Head.Statement(
                vault: vault, incarnation: incarnation, device: device, number: number, previous: chain.last?.digest ?? zeros,
                skip: skipped == 0 ? zeros : chain[skipped - 1].digest, laneEpoch: 1, rollNumber: UInt32(roll.entries.count - 1),
                rollDigest: roll.digests[roll.digests.count - 1], count: number, time: 0,
                others: other.map {
                    [Head.Reference(device: $0.statement.device, number: $0.statement.number, digest: $0.digest)]
                } ?? [],
                packs: (chain.last?.statement.packs ?? []) + [Head.PackReference(number: number, digest: Pack.digest(of: pack))])
            let head = Head(statement, signedWith: key(byte))
            steps.append((.head(device: device, isSecond: number % 2 == 0), head.encoded))
            chains[byte] = chain + [head]
            steps.append((.heads(device: device), HeadList(vault: vault, heads: chain + [head]).encoded))
        }
    }

    /// What device 30, a reader that joined, takes.
    private static func news(
        _ remote: MemoryRemote, _ known: KnownHeads, of story: Story, accepted: Roll? = nil
    ) throws -> RemoteNews {
        try RemoteNews(
            RemoteContents(reading: remote, vault: vault), known, accepted: accepted ?? Roll(story.roll.entries[0]), keeping: []
        ) { head, known in
            head.statement.packs.allSatisfy { pack in
                known?.statement.packs.contains(pack) == true || remote.has(pack, of: head.statement.device)
            }
        }
    }

    private static func reader(_ story: Story) -> KnownHeads { KnownHeads(of: 30, incarnation: story.incarnation) }

    @Test("files that arrive in any order, late, twice and half-written stop nothing, and in the end all heads are accepted")
    func arrivals() throws {
        let story = try Story()
        for seed in 0..<UInt64(Sweep.count(300, sample: 8)) {
            var random = SeededNumbers(state: seed)
            var (remote, known) = (MemoryRemote(), Self.reader(story))
            for index in story.steps.indices.shuffled(using: &random) {
                let (file, bytes) = story.steps[index]
                // A sync tool brings the newest state of a file, never an older one.
                let newer = story.steps[(index + 1)...].contains { $0.file == file && remote.there[file] == $0.bytes }
                if newer { continue }
                if Int.random(in: 0..<3, using: &random) == 0 {
                    remote.there[file] = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
                    known = try Self.taken(remote, known, of: story)
                }
                remote.there[file] = bytes
                known = try Self.taken(remote, known, of: story)
            }
            #expect(known.references.map(\.number) == [10, 20].sorted { member($0).number < member($1).number }.map { _ in 4 })
        }
    }

    private static func taken(_ remote: MemoryRemote, _ known: KnownHeads, of story: Story) throws -> KnownHeads {
        do {
            let news = try news(remote, known, of: story)
            #expect(!news.isStopped, "\(news.notAccepted)")
            return news.known
        } catch RemoteNews.Problem.notMounted { return known }
    }

    @Test("a head whose packs are not all there waits, and the one before counts")
    func packs() throws {
        let story = try Story()
        var remote = MemoryRemote()
        for step in story.steps { remote.there[step.file] = step.bytes }
        let device = member(20).number
        remote.there[.pack(device: device, number: 4)] = nil
        let partial = try Self.news(remote, Self.reader(story), of: story)
        #expect(partial.known.newest[device]?.statement.number == 3 && partial.newHeads.count == 2)
        remote.there[.pack(device: device, number: 4)] = remote.there[.pack(device: device, number: 3)]
        #expect(try Self.news(remote, partial.known, of: story).newHeads.isEmpty)
    }

    @Test("a remote that is not mounted, another vault's, put back, or with a clone's head is told apart")
    func problems() throws {
        let story = try Story()
        var remote = MemoryRemote()
        let early = story.steps.firstIndex { $0.file == .entry(number: 1, digest: story.roll.digests[1]) } ?? 0
        for step in story.steps { remote.there[step.file] = step.bytes }
        let whole = try Self.news(remote, Self.reader(story), of: story).known
        var missing = remote
        missing.there[.founding] = nil
        #expect(throws: RemoteNews.Problem.notMounted) { try Self.news(missing, whole, of: story) }
        var other = remote
        other.there[.founding] =
            NextEntry(
                kind: .found, signer: 20, added: [member(20)], wraps: wraps([member(20)], laneEpoch: 1)
            ).entry(after: nil).encoded
        #expect(throws: RemoteNews.Problem.otherVault) { try Self.news(other, whole, of: story) }
        var old = MemoryRemote()
        for step in story.steps[...early] { old.there[step.file] = step.bytes }
        let first = try Self.news(old, whole, of: story)
        #expect(!first.isStopped && first.notAccepted == [member(10).number: .waits], "the second file is not there")
        let later = story.steps.lastIndex { $0.file == .head(device: member(10).number, isSecond: false) } ?? 0
        for step in story.steps[..<later] { old.there[step.file] = step.bytes }
        let rolledBack = try Self.news(old, whole, of: story)
        #expect(rolledBack.isStopped && rolledBack.notAccepted[member(10).number] == .isRolledBack)
        var copied = remote
        let chain = try #require(story.chains[20])
        var statement = chain[3].statement
        statement.time = 9
        let clone = Head(statement, signedWith: key(20)).encoded
        copied.there[.headCopy(device: member(20).number, name: "head (copy)")] = chain[2].encoded
        #expect(try !Self.news(copied, whole, of: story).isStopped, "an older head of the chain")
        copied.there[.headCopy(device: member(20).number, name: "head (copy)")] = clone
        #expect(try Self.news(copied, whole, of: story).notAccepted == [member(20).number: .isClone])
    }

    @Test("a removed device stops nothing with what it wrote")
    func removed() throws {
        let story = try Story()
        var remote = MemoryRemote()
        for step in story.steps { remote.there[step.file] = step.bytes }
        let whole = try Self.news(remote, Self.reader(story), of: story).known
        let left = story.roll.members.values.filter { $0.number != member(20).number }
        let removal = NextEntry(
            kind: .remove, removed: [member(20)], laneEpoch: 2, wraps: wraps(Array(left), laneEpoch: 2)
        ).entry(after: story.roll)
        var statement = try #require(story.chains[20])[3].statement
        statement.time = 9
        remote.there[.head(device: member(20).number, isSecond: true)] = Head(statement, signedWith: key(20)).encoded
        #expect(try Self.news(remote, whole, of: story).isStopped)
        remote.there[.entry(number: 2, digest: removal.digest)] = removal.encoded
        let after = try Self.news(remote, whole, of: story)
        #expect(!after.isStopped && after.notAccepted == [member(20).number: .waits])
    }

    @Test("a device that was killed between its head and its note goes on; without the note that head is a clone's")
    func ownHead() throws {
        var story = try Story()
        var remote = MemoryRemote()
        for step in story.steps { remote.there[step.file] = step.bytes }
        let reader = KnownHeads(of: member(10).number, incarnation: story.incarnation)
        var own = reader
        for head in try #require(story.chains[10]) { own.note(head) }
        own = try Self.news(remote, own, of: story).known
        try story.push(10)
        for step in story.steps { remote.there[step.file] = step.bytes }
        let next = try #require(story.chains[10]?.last)
        #expect(try Self.news(remote, own, of: story).notAccepted == [member(10).number: .isClone])
        var prepared = own
        prepared.prepare(next)
        try story.push(20)
        for step in story.steps { remote.there[step.file] = step.bytes }
        let news = try Self.news(remote, prepared, of: story)
        #expect(!news.isStopped && news.known.newest[member(10).number] == next && news.known.pending == nil)
        #expect(news.newHeads.map(\.statement.device) == [member(20).number], "its own packs are not read")
        // The head was committed and not written.
        for step in story.steps where step.file == .head(device: member(10).number, isSecond: false) {
            remote.there[step.file] = nil
        }
        var early = own
        early.prepare(next)
        #expect(try !Self.news(remote, early, of: story).notAccepted.keys.contains(member(10).number))
    }

    @Test("an entry of a later version is told, and not taken for a torn one")
    func laterEntries() throws {
        let story = try Story()
        var remote = MemoryRemote()
        for step in story.steps { remote.there[step.file] = step.bytes }
        var entry = story.roll.entries[1].encoded
        entry[0] = 2
        let digest = PublicHash.hash(entry)
        remote.there[.entry(number: 2, digest: bytes(1))] = entry
        #expect(RemoteContents(reading: remote, vault: vault).laterEntries.isEmpty, "another digest in its name")
        remote.there[.entry(number: 2, digest: digest)] = entry
        #expect(RemoteContents(reading: remote, vault: vault).laterEntries == [digest])
        #expect(try !Self.news(remote, Self.reader(story), of: story).needsLaterVersion, "no head names it")
        var statement = try #require(story.chains[20])[3].statement
        (statement.rollNumber, statement.rollDigest) = (2, digest)
        let file = RemoteFile.head(device: member(20).number, isSecond: true)
        remote.there[file] = Head(statement, signedWith: key(21)).encoded
        #expect(try !Self.news(remote, Self.reader(story), of: story).needsLaterVersion, "an unsigned one does")
        remote.there[file] = Head(statement, signedWith: key(20)).encoded
        #expect(try Self.news(remote, Self.reader(story), of: story).needsLaterVersion)
    }
}

/// Random numbers that a seed decides (SplitMix64).
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
