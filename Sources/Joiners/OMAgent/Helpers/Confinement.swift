// The confinement layers of the helpers, the processes that read foreign bytes: docs/formats/online-protocol.md, "Confinement", for
// a server's bytes, docs/formats/sync.md, "The folder's helper", for a remote's, and docs/formats/import-reader.md for a file's.

internal import COMSystem
internal import Glibc

/// The confinement of the online helper, of the helpers of remotes, and of the process that reads a file for an import. The helper of
/// a server is confined as the online helper.
package enum Confinement {
    /// One restriction. No layer relies on another one.
    package enum Layer: String, CaseIterable, Sendable {
        /// Root's online helper continues as a user of its own, in no group. The folder's helper stays root without
        /// capabilities: the files of root's remote are root's.
        case user
        /// No capability, and no program that gains rights.
        case privileges
        /// Landlock: files for name resolution and certificates, for reading only; or the folder and nothing else.
        case files
        /// Landlock 4: TCP connections only to the profile's ports and port 53, at any address, or to none; no listening.
        case ports
        /// Landlock 6: no signal to another process, no abstract socket of another one.
        case scope
        /// seccomp: TCP and UDP sockets only, or no new socket.
        case sockets
        /// seccomp: no program, no process, no key ring, no listening socket. Online no change of a file.
        case calls
    }

    /// The port of name servers. An answer that does not fit a datagram is fetched over TCP.
    private static let namePort: UInt16 = 53

    /// The files that are read to resolve a name and to check a certificate, and folders of such files.
    private static let readable = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
        // A module that nsswitch.conf names is loaded when the first name is resolved.
        "/etc/ld.so.cache", "/lib", "/lib64", "/usr/lib", "/usr/lib64",
        "/etc/ssl/certs", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/etc/pki/ca-trust/extracted",
        "/etc/pki/tls/certs",
        // On some systems these are links to a file outside the folders above. Then the rule holds for that file.
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        // Swift's thread pool reads /proc/THREAD/stat of each of its threads, and ends the process if it cannot. These
        // files are in no folder of /proc/self, and a rule can name only existing files. Landlock and the separate user
        // keep the memory, environment and descriptors of other processes closed.
        "/proc",
    ]

    /// The layers that this kernel, or this user namespace, does not have.
    package static var lacking: [Layer] {
        let version = om_landlock_version()
        return Layer.allCases.filter { layer in
            switch layer {
            case .user: geteuid() == 0 && om_helper_user() == 0
            case .privileges: false
            case .files: version < 1
            case .ports: version < 4
            case .scope: version < 6
            case .sockets, .calls: !om_has_filters()
            }
        }
    }

    /// Confines the online helper: applies the layers that the kernel has, for good. Call it while there is one thread, before
    /// the first byte from a server.
    ///
    /// - Parameters:
    ///   - layers: All of them, except in a test that shows what a layer is for.
    ///   - accepts: Whether it takes connections at listening sockets that it was given. It can make none either way.
    /// - Returns: false if the system refuses a layer that it has.
    package static func apply(
        _ layers: Set<Layer> = Set(Layer.allCases), ports: Set<UInt16>, accepts: Bool = false
    ) -> Bool {
        apply(
            layers, accepts ? OM_WORK_BROWSER : OM_WORK_ONLINE, files: readable, folder: nil, ports: Array(ports) + [namePort])
    }

    /// Confines the folder's helper in the same way, before it reads the first byte of the folder. The layer `user` is left out.
    ///
    /// - Parameter folder: The folder that it reads and writes, which is no link.
    package static func apply(_ layers: Set<Layer> = Set(Layer.allCases), folder: String) -> Bool {
        apply(layers.subtracting([.user]), OM_WORK_FOLDER, files: [], folder: folder, ports: [])
    }

    /// Confines the process that reads a file of another program, before it reads the first byte of the file. It opens no file and no
    /// socket: it has its file and its socket already.
    package static func applyForReading(_ layers: Set<Layer> = Set(Layer.allCases)) -> Bool {
        apply(layers, OM_WORK_READING, files: [], folder: nil, ports: [])
    }

    private static func apply(
        _ layers: Set<Layer>, _ work: om_work, files: [String], folder: String?, ports: [UInt16]
    ) -> Bool {
        if layers.contains(.privileges), om_no_new_privileges() != 0 { return false }
        guard landlock(layers, files: files, folder: folder, ports) else { return false }
        if layers.contains(.user), om_leave_root() != 0 { return false }
        if layers.contains(.privileges), om_drop_capabilities() != 0 { return false }
        guard om_has_filters() else { return true }
        // In this order: the second filter forbids a third one.
        if layers.contains(.sockets), om_filter_sockets(work) != 0 { return false }
        if layers.contains(.calls), om_filter_calls(work) != 0 { return false }
        return true
    }

    private static func landlock(
        _ layers: Set<Layer>, files: [String], folder: String?, _ ports: [UInt16]
    ) -> Bool {
        withPaths(layers.contains(.files) ? files : nil) { paths in
            // The end, so that a list without ports has an address too.
            (ports + [0]).withUnsafeBufferPointer { open in
                let open = layers.contains(.ports) ? open.baseAddress : nil
                return om_landlock(paths, folder, open, ports.count, layers.contains(.scope)) == 0
            }
        }
    }

    private static func withPaths<R>(
        _ paths: [String]?, _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
    ) -> R {
        guard let paths else { return body(nil) }
        let copies = paths.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
