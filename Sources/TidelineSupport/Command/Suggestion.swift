#if Commands
internal import TidelineStore

/// Returns ` Did you mean "x"?` for the name in `names` that is closest to `word` or begins with it, or an empty string
/// if no name is close enough to suggest a typing error.
package func suggestion(for word: String, among names: some Collection<String>) -> String {
    closestName(to: word, among: names).map { " Did you mean \($0.debugDescription)?" } ?? ""
}
#endif
