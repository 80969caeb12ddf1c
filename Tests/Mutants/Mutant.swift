internal import Foundation

/// The mistake that is planted in the sync core; see `scripts/mutants`, which adds this file to a copy of it.
enum Mutant {
    private static let planted = ProcessInfo.processInfo.environment["TIDELINE_MUTANT"]

    static func isPlanted(_ name: String) -> Bool { planted == name }
}
