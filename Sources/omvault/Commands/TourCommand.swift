internal import ArgumentParser

struct TourCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "tour", abstract: "The main job in a temporary home.")
    @OptionGroup var global: GlobalOptions
    func run(_ door: Door) throws {}
}
