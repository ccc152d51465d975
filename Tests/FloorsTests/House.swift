// The table of rooms in Package.swift. It is read as text, because SwiftPM would wait for the run of this test.

import Foundation
import Testing

struct House {
    enum Floor: String, CaseIterable {
        case doors = "Doors", joiners = "Joiners", services = "Services", ground = "Ground", bedrock = "Bedrock"

        func isUnder(_ other: Floor) -> Bool {
            let floors = Self.allCases
            return (floors.firstIndex(of: self) ?? 0) > (floors.firstIndex(of: other) ?? 0)
        }
    }

    struct Room {
        let floor: Floor
        let imports: Set<String>
        /// The products of other packages.
        let products: Set<String>

        var modules: Set<String> { imports.union(products) }
    }

    let rooms: [String: Room]
    let cModules: Set<String>

    /// The system's modules. Full Foundation is not one of them: it costs every start 3 ms and 48 MB.
    static let system: Set = ["Glibc", "Synchronization", "FoundationEssentials"]

    init(_ repository: URL) throws {
        let manifest = try String(contentsOf: repository.appending(path: "Package.swift"), encoding: .utf8)
        var rooms: [String: Room] = [:]
        for text in manifest.split(separator: /\n    room\(/).dropFirst() {
            let head = try #require(text.firstMatch(of: /^\s*\.(\w+), "([^"]+)",\s*imports: \[([^\]]*)\]/))
            let floor = try #require(Floor.allCases.first { "\($0)" == head.1 })
            let products =
                text.split(separator: "\n]").first?.matches(of: /\.product\(name: "([^"]+)"/).map { String($0.1) } ?? []
            rooms[String(head.2)] = Room(floor: floor, imports: Self.words(head.3), products: Set(products))
        }
        self.rooms = rooms
        let libraries = manifest.matches(of: /\n    library\("([^"]+)"/).map { String($0.1) }
        let own = manifest.matches(of: /\n    \.target\(name: "(C[^"]+)", path: "Sources\/C\//).map { String($0.1) }
        cModules = Set(libraries + own)
    }

    private static func words(_ list: Substring) -> Set<String> {
        Set(list.matches(of: /"([^"]+)"/).map { String($0.1) })
    }
}
