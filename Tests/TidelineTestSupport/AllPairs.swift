/// Returns every combination of an element of the first list with an element of the second. Use it in tests with more
/// than two lists of arguments.
public func allPairs<A, B>(_ first: [A], _ second: [B]) -> [(A, B)] {
    first.flatMap { a in second.map { (a, $0) } }
}
