/// A number with its noun, as one writes it: `1 row`, `2 rows`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
