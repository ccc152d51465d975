// Confines itself as a helper does, except for the named layers. Then it makes the attempts that must fail in the helper.
// Started by the confinement tests in Tests/OMOnlineTests; it is part of no product.
//
//   confined-worker try FOLDER [LAYER…]   makes all attempts in FOLDER as the online helper, and prints a line for each: name and
//                                         errno, or 0
//   confined-worker try-remote FOLDER [LAYER…]   the same as the helper of the folder FOLDER/remote, with attempts there
//   confined-worker try-reading FOLDER [LAYER…]   makes all attempts as the reader of an import's file
//   confined-worker resolve NAME…         prints the first address of each name, under all layers
//   confined-worker accept [plain]        takes a connection at a listening socket that it had before, and tries to make one; with
//                                         `plain` confined as for a question without a browser
//   confined-worker child                 frees the id of a child, gives it to another process, and releases the child

import CAttempts
import COMSystem
import Glibc
import OMAgent
import OMAgentProtocol

@main
enum ConfinedWorker {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "try" where words.count > 1:
            attempts_prepare(words[1])
            guard Confinement.apply(layers(words), ports: [attempts_open_port()]) else { return print("not confined") }
            attempts_run()
        case "try-remote" where words.count > 1:
            attempts_prepare(words[1])
            guard Confinement.apply(layers(words), folder: words[1] + "/remote") else { return print("not confined") }
            attempts_run_remote()
        case "try-reading" where words.count > 1:
            attempts_prepare(words[1])
            guard Confinement.applyForReading(layers(words)) else { return print("not confined") }
            attempts_run()
        case "resolve":
            guard Confinement.apply(ports: []) else { return print("not confined") }
            for name in words.dropFirst() { attempt_address(name) }
        case "accept":
            let given = om_loopback_listen(false, 0), port = om_loopback_port(given)
            guard Confinement.apply(ports: [port], accepts: words.count == 1) else { return print("not confined") }
            print("connect", attempt_connect(port))
            let taken = om_socket_accept(given)
            print("accept", taken < 0 ? errno : 0)
            let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            print(
                "listen", listen(other, 1) < 0 ? errno : 0,
                om_loopback_port(other) == 0 && !isListening(other) ? "closed" : "open")
        case "child":
            let child = attempt_child(0)
            do {
                let held = ChildProcess(child)
                // The child ends, and a host that reaps all of its children reaps it.
                kill(child, SIGKILL)
                waitpid(child, nil, 0)
                let other = attempt_child(child)
                print(other == child ? "same id" : "another id")
                _ = consume held
            }
            print(attempt_is_alive(child) == 1 ? "alive" : "killed")
        default: exit(2)
        }
    }

    private static func isListening(_ socket: Int32) -> Bool {
        var (value, size): (Int32, socklen_t) = (0, 4)
        return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0
    }

    /// All layers but the named ones.
    private static func layers(_ words: [String]) -> Set<Confinement.Layer> {
        let left = Set(words.dropFirst(2).compactMap { Confinement.Layer(rawValue: $0) })
        guard left.count == words.count - 2 else { exit(2) }
        return Set(Confinement.Layer.allCases).subtracting(left)
    }
}
