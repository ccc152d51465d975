internal import COMSystem
internal import OMShell
internal import OMSystem

/// The program that opens addresses for a person.
struct BrowserProgram {
    /// The word for no program.
    static let none = "none"
    private static let standard = "/usr/bin/xdg-open"

    /// Its name or path.
    let path: String

    /// - Parameter option: As given to the command. Nil: the system's, if there is a display.
    /// - Returns: nil if no program is to be started.
    init?(_ option: String?) {
        guard option != Self.none else { return nil }
        guard let path = option ?? (Self.hasDisplay ? Self.standard : nil) else { return nil }
        self.path = path
    }

    /// Whether a browser could show a window.
    private static var hasDisplay: Bool { ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(Environment.text($0) ?? "").isEmpty } }

    /// Starts the browser, without a shell. The address is one argument: https, or http to this machine.
    ///
    /// - Returns: Whether a program was started.
    func open(_ address: String) -> Bool { [path, address].withCArguments { om_spawn_apart($0) } > 0 }
}
