internal import Foundation
internal import TidelineStore

/// The work of a second process on damaged stores: for each damage it copies a store, damages the copy, and reads it.
struct DamageJob: Codable, Sendable, CustomStringConvertible {
    /// The directory of an intact store.
    var sample: String
    /// The directory for the copies.
    var workshop: String
    /// The damages to apply.
    var damages: [Damage]

    /// A short description, because there are many damages.
    var description: String { "\(damages.count) damaged copies" }

    /// Makes the copies one by one and calls `body` with the directory of each.
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

/// The result of reading a damaged store.
struct DamageFinding: Codable, Sendable {
    enum Verdict: String, Codable, Sendable {
        /// Every answer was correct.
        case right
        /// Every answer was correct for an earlier commit.
        case earlier
        /// An error reported the damage, and all answers before and after it were correct.
        case refused
        /// Like ``refused``, but the answers are those of an earlier commit.
        case earlierAndRefused
        /// Some answer is consistent with no commit.
        case wrong
        /// The error does not report damage.
        case badError
        /// The error does not name the damaged object.
        case vague
    }
    var verdict: Verdict
    /// The problem, or the text of the error.
    var detail: String
    /// The code of the first error that does not call the files damaged, or `nil` if there is none.
    var otherCode: StoreError.Code?
}
