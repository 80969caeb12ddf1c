internal import Foundation

/// What a second process does with damaged stores: it copies one, damages the copy, and reads it, for each damage.
struct DamageJob: Codable, Sendable, CustomStringConvertible {
    /// The folder of a store that is whole.
    var sample: String
    /// The folder in which the copies are made.
    var workshop: String
    /// What is done to them.
    var damages: [Damage]

    /// Few words, as the damages are many.
    var description: String { "\(damages.count) damaged copies" }

    /// Makes the copies one by one, and calls `body` with the folder of each.
    func forEachCopy(_ body: (String) throws -> Void) throws {
        for damage in damages {
            let folder = "\(workshop)/\(UUID().uuidString)"
            try FileManager.default.copyItem(atPath: sample, toPath: folder)
            try damage.apply(in: folder)
            try body(folder)
            try FileManager.default.removeItem(atPath: folder)
        }
    }
}

/// What came of reading a damaged store.
struct DamageFinding: Codable, Sendable {
    enum Verdict: String, Codable, Sendable {
        /// Every answer was right.
        case right
        /// Every answer was right for an earlier commit.
        case earlier
        /// The damage was told by an error, and what was answered before or after was right.
        case refused
        /// As ``refused``, but what was answered is of an earlier commit.
        case earlierAndRefused
        /// Some answer was what no commit left.
        case wrong
        /// What was thrown tells nothing of damage.
        case badError
        /// What was thrown does not say where the damage is.
        case vague
    }
    var verdict: Verdict
    /// What is wrong, or what the error says.
    var detail: String
}
