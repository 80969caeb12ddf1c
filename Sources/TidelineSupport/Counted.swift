/// Returns a number with its noun in the singular or plural: `1 row`, `2 rows`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
