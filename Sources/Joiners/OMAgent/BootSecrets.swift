// Files that may outlive the agent but not the boot. Each file is in a folder in memory. The secret that seals it is in
// the user's keyring in the kernel, or beside the file if the keyring has no room.

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMSecrets
internal import OMSystem

/// Files of this boot in the runtime folder, and their secrets.
struct BootSecrets: Sendable {
    private let folder: RuntimeFolder
    /// The start of the files' names, and of the secrets' names if the keyring takes no secret.
    private let prefix: String
    private let secretPrefix: String
    private let longest: Int

    init(_ folder: RuntimeFolder, prefix: String, secretPrefix: String, longest: Int) {
        (self.folder, self.prefix, self.secretPrefix, self.longest) = (folder, prefix, secretPrefix, longest)
    }

    /// A file on a disk would outlive the boot.
    var isInMemory: Bool { folder.isInMemory }

    /// The ids that have a file.
    var ids: [[UInt8]] {
        guard let stream = opendir(folder.descriptorPath(".")) else { return [] }
        defer { closedir(stream) }
        var found: [[UInt8]] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.hasPrefix(prefix), let id = try? Hex.decode(String(name.dropFirst(prefix.count))), id.count == 16
            else { continue }
            found.append(id)
        }
        return found
    }

    func remove(_ id: [UInt8]) {
        for place in [SecretPlace.first, .second] { removeSecret(of: id, at: place) }
        for name in [name(id), draft(name(id))] { unlink(folder.descriptorPath(name)) }
    }

    func removeSecret(of id: [UInt8], at place: SecretPlace) {
        om_keyring_remove(keyName(id, place))
        for name in [secretName(id, place), draft(secretName(id, place))] { unlink(folder.descriptorPath(name)) }
    }

    func read(_ id: [UInt8]) -> SecretBytes? { read(name(id)) }

    func write(_ bytes: borrowing SecretBytes, _ id: [UInt8]) -> Bool { write(bytes, to: name(id)) }

    // MARK: - The secret of this boot

    /// Keeps the secret in the kernel's keyring. If the keyring is full or not allowed, a file in the folder keeps it.
    func keep(_ secret: borrowing Key<Deriving>, for id: [UInt8], at place: SecretPlace = .first) -> Bool {
        secret.withExposedBytes { bytes in
            bytes.withUnsafeBytes { om_keyring_put(keyName(id, place), $0.baseAddress, $0.count) == 0 }
                || write(SecretBytes(copying: bytes), to: secretName(id, place))
        }
    }

    func secret(for id: [UInt8], at place: SecretPlace = .first) -> Key<Deriving>? {
        var buffer = SecretBuffer()
        buffer.append(upTo: Key<Deriving>.count + 1) { free in
            let got = free.withUnsafeMutableBytes { om_keyring_get(keyName(id, place), $0.baseAddress, $0.count) }
            return got == Key<Deriving>.count ? got : 0
        }
        if buffer.count > 0 { return try? Key<Deriving>(readFrom: buffer.finish()) }
        guard let bytes = read(secretName(id, place)) else { return nil }
        return try? Key<Deriving>(readFrom: bytes)
    }

    // MARK: - Files

    private func name(_ id: [UInt8]) -> String { prefix + Hex.encode(id) }
    private func keyName(_ id: [UInt8], _ place: SecretPlace) -> String { name(id) + Self.end(place) }
    private func secretName(_ id: [UInt8], _ place: SecretPlace) -> String { secretPrefix + Hex.encode(id) + Self.end(place) }
    private func draft(_ name: String) -> String { "." + name }

    private static func end(_ place: SecretPlace) -> String {
        switch place {
        case .first: ""
        case .second: "-2"
        }
    }

    /// Writes a draft and renames it, so that there is never a part of a file.
    private func write(_ bytes: borrowing SecretBytes, to name: String) -> Bool {
        let path = folder.descriptorPath(draft(name))
        unlink(path)
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let isWritten = bytes.withBytes { bytes in
            bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
        }
        guard isWritten, rename(path, folder.descriptorPath(name)) == 0 else {
            unlink(path)
            return false
        }
        return true
    }

    private func read(_ name: String) -> SecretBytes? {
        let descriptor = Glibc.open(folder.descriptorPath(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let status = try? FileTrust.own.check(open: descriptor, .file, at: folder.path), status.st_size <= longest else {
            return nil
        }
        var buffer = SecretBuffer()
        buffer.append(upTo: Int(status.st_size)) { free in
            max(0, free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) })
        }
        return buffer.finish()
    }
}
