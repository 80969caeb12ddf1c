extension RowTest {
    /// Returns whether the test holds for a row of the table. Tests that require the evaluator are not supported.
    @inline(__always)
    func holds(_ row: RowBytes, _ constants: borrowing CompiledFilter.Constants) throws(RowDamage) -> Bool {
        switch self {
        case .tags(let operand, let tags): return tags.contains(tag: try operand.tag(in: row))
        case .word(let operand, let interval):
            guard let word = try operand.word(in: row) else { return false }
            return interval.contains(word)
        case .text(let operand, let relations, let constant) where operand.kind == .text:
            guard let text = try unsafe operand.bytes(in: row) else { return false }
            return unsafe constants.bytes.withUnsafeBytes { bytes in
                // Texts of different lengths are not equal, regardless of their content.
                if relations == .equal, text.count != constant.count { return false }
                return unsafe relations.contains(order: text.compare(constant.bytes(in: bytes)))
            }
        default: return try holdsForLongerOperands(row, constants)
        }
    }

    @inline(__always)
    private func holdsForLongerOperands(
        _ row: RowBytes, _ constants: borrowing CompiledFilter.Constants
    ) throws(RowDamage) -> Bool {
        switch self {
        case .tags, .word, .predicate: return false
        case .wordIn(let operand, let span):
            guard let word = try operand.word(in: row) else { return false }
            return constants.contains(word, in: span)
        case .columns(let a, let relations, let b):
            guard let order = try a.order(to: b, in: row) else { return false }
            return relations.contains(order: order)
        case .nulls(let a, let b):
            let (a, b) = (try a.tag(in: row), try b.tag(in: row))
            return TagSet.null.contains(tag: a) && TagSet.null.contains(tag: b)
        case .text(let operand, _, _), .textIn(let operand, _), .hasPrefix(let operand, _), .hasSuffix(let operand, _),
            .contains(let operand, _):
            guard let text = try unsafe operand.bytes(in: row) else { return false }
            return unsafe constants.bytes.withUnsafeBytes { unsafe holds(text, in: $0, constants.texts) }
        }
    }

    /// Returns whether a test of a text holds.
    private func holds(
        _ text: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, _ texts: borrowing [Text]
    ) -> Bool {
        switch self {
        case .text(let operand, let relations, let constant):
            let constant = unsafe constant.bytes(in: bytes)
            // Folding preserves the length: texts of different lengths are not equal, regardless of their content.
            if relations == .equal, text.count != constant.count { return false }
            return unsafe relations.contains(order: text.order(to: constant, folding: operand.kind == .foldedText))
        case .textIn(let operand, let span):
            return unsafe Self.contains(
                text, among: texts, span, folding: operand.kind == .foldedText, bytes: bytes)
        case .hasPrefix(_, let constant): return unsafe text.hasPrefix(constant.bytes(in: bytes))
        case .hasSuffix(_, let constant): return unsafe text.hasSuffix(constant.bytes(in: bytes))
        case .contains(_, let constant): return unsafe text.contains(constant.bytes(in: bytes))
        case .tags, .word, .wordIn, .columns, .nulls, .predicate: return false
        }
    }

    private static func contains(
        _ text: UnsafeRawBufferPointer, among texts: borrowing [Text], _ span: Span, folding: Bool,
        bytes: UnsafeRawBufferPointer
    ) -> Bool {
        var (lower, upper) = (span.lower, span.upper)
        while lower < upper {
            let middle = (lower + upper) / 2
            let order = unsafe text.order(to: texts[middle].bytes(in: bytes), folding: folding)
            if order == 0 { return true }
            if order < 0 { upper = middle } else { lower = middle + 1 }
        }
        return false
    }
}

extension CompiledFilter.Constants {
    func contains(_ word: Int64, in span: RowTest.Span) -> Bool {
        var (lower, upper) = (span.lower, span.upper)
        while lower < upper {
            let middle = (lower + upper) / 2
            if words[middle] == word { return true }
            if word < words[middle] { upper = middle } else { lower = middle + 1 }
        }
        return false
    }
}

extension RowTest.Text {
    func bytes(in constants: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: constants[offset..<offset + count])
    }
}
