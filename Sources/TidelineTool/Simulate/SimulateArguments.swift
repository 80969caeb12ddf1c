#if Tool
internal import ArgumentParser
internal import Foundation
internal import TidelineSimulation
internal import TidelineSupport

/// The seeds of `--seeds`: `A..B`, or one seed.
struct SeedRange: Sendable, Hashable {
    let first: UInt64
    let last: UInt64

    init(_ first: UInt64, _ last: UInt64) { (self.first, self.last) = (first, last) }

    /// - Throws: `ValidationError` if the text is not a seed or a range, or if the range is empty.
    init(parsing text: String) throws {
        let seeds = text.components(separatedBy: "..").map { UInt64($0) }
        guard (1...2).contains(seeds.count), let first = seeds[0], let last = seeds[seeds.count - 1] else {
            throw ValidationError("use a seed from 0 to \(UInt64.max), or a range such as 1..1000.")
        }
        guard first <= last else { throw ValidationError("the first seed is greater than the last one.") }
        self.init(first, last)
    }

    /// The number of seeds, or the greatest number if there are more.
    var count: UInt64 { last - first == .max ? .max : last - first + 1 }
}

/// The faults of `--faults`: `all`, `none`, or names separated by commas.
struct FaultList: Sendable, Hashable {
    let text: String
    let faults: SimulatedWorld.Faults

    private static let kinds: [(name: String, fault: SimulatedWorld.Faults)] = [
        ("network", .network), ("server", .server), ("kills", .kills), ("cancellation", .cancellation),
        ("clocks", .clocks), ("intermediaries", .intermediaries), ("identities", .identities),
    ]

    /// The names of the single faults.
    static var names: [String] { kinds.map(\.name) }

    /// - Throws: `ValidationError` if a name is unknown.
    init(parsing text: String) throws {
        self.text = text
        switch text {
        case "all": faults = .all
        case "none": faults = []
        default:
            faults = try text.components(separatedBy: ",").reduce(into: []) { faults, name in
                guard let kind = Self.kinds.first(where: { $0.name == name }) else {
                    throw ValidationError(
                        "there is no fault \(name.debugDescription)." + suggestion(for: name, among: Self.names)
                            + " The faults are: \(Self.names.joined(separator: ", ")); or use all or none alone.")
                }
                faults.formUnion(kind.fault)
            }
        }
    }
}

/// The file of `--replay`.
enum ScheduleFile {
    /// Reads a schedule, where `-` is standard input.
    /// - Throws: `ValidationError` if the file cannot be read or is not a schedule.
    static func read(_ path: String) throws -> SimulationSchedule {
        let data: Data
        do {
            data =
                path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ValidationError("--replay: \(name(of: path)) cannot be read: \(error.reason)")
        }
        do {
            return try JSONDecoder().decode(SimulationSchedule.self, from: data)
        } catch let error as DecodingError {
            throw ValidationError("--replay: \(name(of: path)) is not a schedule: \(error.account)")
        }
    }

    /// The name of a file in messages.
    static func name(of path: String) -> String { path == "-" ? "standard input" : path }
}
#endif
