public import TidelineStore

/// A record whose type has rules for conflicts; see ``SyncClient/define(_:)-(any_TableRecord.Type...)``.
///
/// ```swift
/// extension TodoItem: MergingRecord {
///     static let mergeRules: [String: MergeRule] = ["priority": .greatest]
/// }
/// ```
///
/// Conflicts of the table are merged by column (``ConflictPolicy/merge(_:others:deletions:)``) with these rules. A
/// policy for the table in ``SyncOptions/conflictPolicies`` takes precedence; if it is a merge, the rules apply to the
/// columns that it does not name. ``SyncOptions/conflictPolicy`` applies to what has no rule: it decides about a row
/// that one side deleted, and if both sides changed columns without a rule differently, these columns take the values
/// of the row that it chooses. ``ConflictPolicy/manual`` leaves such a conflict to the app.
public protocol MergingRecord: TableRecord {
    /// The rules by the names of columns.
    static var mergeRules: [String: MergeRule] { get }
}
