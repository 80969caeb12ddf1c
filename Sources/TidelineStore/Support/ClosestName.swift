/// Returns the name in `names` that is closest to `word` or begins with it, or `nil` if no name is close enough to
/// suggest a typing error, or the word has more than 100 bytes.
package func closestName(to word: String, among names: some Collection<String>) -> String? {
    guard word.utf8.count <= 100 else { return nil }
    let near = names.map { (name: $0, distance: editDistance(Array(word.lowercased()), Array($0.lowercased()))) }
        .min { $0.distance < $1.distance }
    guard let near else { return nil }
    if near.distance <= (word.count + 1) / 3 { return near.name }
    return word.count > 2 ? names.first { $0.lowercased().hasPrefix(word.lowercased()) } : nil
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

extension TableSchema {
    /// The end of a message about a column that the table does not define: `; did you mean "x"?`, or an empty string if
    /// no column has a similar name.
    package func suggestion(for column: String) -> String {
        closestName(to: column, among: allColumns.map(\.name)).map { "; did you mean \($0.debugDescription)?" } ?? ""
    }
}
