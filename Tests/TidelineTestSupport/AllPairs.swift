/// Every element of one list with every element of another: for a test with more lists of arguments than two.
public func allPairs<A, B>(_ first: [A], _ second: [B]) -> [(A, B)] {
    first.flatMap { a in second.map { (a, $0) } }
}
