/// Returns ` Did you mean "x"?` for the name in `names` that is closest to `word` or begins with it, or an empty string
/// if no name is close enough to suggest a typing error.
package func suggestion(for word: String, among names: some Collection<String>) -> String {
    let near = names.map { (name: $0, distance: editDistance(Array(word.lowercased()), Array($0.lowercased()))) }
        .min { $0.distance < $1.distance }
    guard let near else { return "" }
    let beginning = word.count > 2 ? names.first { $0.lowercased().hasPrefix(word.lowercased()) } : nil
    guard let meant = near.distance <= (word.count + 1) / 3 ? near.name : beginning else { return "" }
    return " Did you mean \(meant.debugDescription)?"
}

/// The number of letters to insert, delete, replace, or swap with a neighbor to turn one word into the other.
private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, beforeLast[j - 1] + 1) }
            row.append(least)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}
