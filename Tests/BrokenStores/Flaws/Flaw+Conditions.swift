internal import Foundation
internal import TidelineStore

extension Flaw {
    /// Whether the flaw evaluates conditions by its own rules, without an index.
    var meansOtherwise: Bool { Self.ownMeanings.contains(self) }

    private static let ownMeanings = Set(
        (BrokenStore.conditions + BrokenStore.functions + BrokenStore.logic).map(\.flaw)
    )
    .subtracting([.queryNotValidated, .otherTypesFindNothing, .termsCutAtHundred, .deepConditionsRefused])
    .union([.longTextsSearchedInPart])

    /// Returns the value of a condition or operand: the flaw's value if it has one, otherwise the evaluator's.
    func value(of node: RowPredicate, in row: borrowing RowView, _ evaluator: Evaluator) -> Value {
        let node = misread(node)
        if self == .notInLeavesOutNull, case .not(.membership(let operand, _)) = node {
            if value(of: operand, in: row, evaluator).isNull { return .bool(false) }
        }
        var operands: [Value] = []
        for child in node.children { operands.append(value(of: child, in: row, evaluator)) }
        if let own = value(of: node, operands) { return own }
        let plain = node.replacingChildren(with: zip(node.children, operands).map(Self.operand))
        return (try? evaluator.value(of: plain, in: row)) ?? .null
    }

    /// Returns a literal in place of an operand, but a column as it is, because comparisons treat `id` specially.
    private static func operand(_ node: RowPredicate, _ value: Value) -> RowPredicate {
        if case .column = node { node } else { .literal(value) }
    }

    /// Returns a node as the flawed store interprets it.
    private func misread(_ node: RowPredicate) -> RowPredicate {
        func isTaken(_ term: RowPredicate) -> RowPredicate {
            if case .column = term { false } else { term }
        }
        return switch (self, node) {
        case (.literalOnTheLeftMisread, .comparison(let comparison, .literal(let value), .column(let name))):
            .comparison(comparison, .column(name), .literal(value))
        case (.boolColumnIsNoCondition, .and(let terms)): .and(terms.map(isTaken))
        case (.boolColumnIsNoCondition, .or(let terms)): .or(terms.map(isTaken))
        case (.boolColumnIsNoCondition, .not(let term)): .not(isTaken(term))
        default: node
        }
    }

    private func value(of node: RowPredicate, _ operands: [Value]) -> Value? {
        switch node {
        case .comparison(_, .column, .column) where self == .columnsNotCompared: .bool(false)
        case .comparison(let comparison, _, _): compare(comparison, operands[0], operands[1]).map { .bool($0) }
        case .function(let function, _): result(of: function, operands)
        case .arithmetic(let arithmetic, _, _): result(of: arithmetic, operands[0], operands[1])
        case .membership(_, let values): membership(operands[0], values)
        case .not(.membership(_, let values)) where self == .notInWithNullFindsNone && values.contains(.null):
            .bool(false)
        case .not: self == .notOfNullIsFalse && operands[0].isNull ? .null : nil
        case .or(let terms) where terms.isEmpty: self == .emptyOrIsTrue ? .bool(true) : nil
        case .and(let terms) where terms.isEmpty: self == .emptyAndIsFalse ? .bool(false) : nil
        default: nil
        }
    }

    private func membership(_ operand: Value, _ values: [Value]) -> Value? {
        switch self {
        case .emptyListMatchesAll where values.isEmpty: .bool(true)
        case .nullInListNeverFound where operand.isNull: .bool(false)
        default: nil
        }
    }

    // MARK: Comparisons

    private func compare(_ comparison: RowPredicate.Comparison, _ a: Value, _ b: Value) -> Bool? {
        switch (self, a, b) {
        case (.notEqualLeavesOutNull, _, _) where comparison == .notEqual && a.isNull != b.isNull: false
        case (.nullIsLessThanAll, .null, _) where [.less, .lessOrEqual].contains(comparison): !b.isNull
        case (.nanEqualsItself, .double(let x), .double(let y)) where x.isNaN && y.isNaN:
            [.equal, .lessOrEqual, .greaterOrEqual].contains(comparison)
        case (.negativeZeroDiffers, .double(let x), .double(let y)) where x == 0 && y == 0:
            holds(comparison, x.sign == .minus ? 0 : 1, y.sign == .minus ? 0 : 1)
        case (.integersComparedAsDoubles, .int(let x), .int(let y)): holds(comparison, Double(x), Double(y))
        case (.integersComparedAsDoubles, .int(let x), .double(let y)): holds(comparison, Double(x), y)
        case (.integersComparedAsDoubles, .double(let x), .int(let y)): holds(comparison, x, Double(y))
        case (.instantsComparedByMillisecond, .timestamp(let x), .timestamp(let y)):
            holds(comparison, x.flooredToMillisecond, y.flooredToMillisecond)
        case (.textNormalisedInComparison, .string(let x), .string(let y)): holds(comparison, x, y)
        case (.nullEqualsNothing, _, _) where comparison == .equal && a.isNull: false
        case (.nullsCompareAsEqual, .null, .null) where [.lessOrEqual, .greaterOrEqual].contains(comparison): true
        case (.nanIsGreatest, .double(let x), _) where x.isNaN && [.greater, .greaterOrEqual].contains(comparison):
            !b.isNull
        case (.textComparedInUTF16, .string(let x), .string(let y)) where ![.equal, .notEqual].contains(comparison):
            holds(comparison, x.utf16.lexicographicallyPrecedes(y.utf16) ? 0 : x == y ? 1 : 2, 1)
        case (.bytesComparedSigned, .bytes(let x), .bytes(let y)) where x.count == y.count && x != y:
            zip(x, y).first { $0 != $1 }.map { holds(comparison, Int8(bitPattern: $0), Int8(bitPattern: $1)) }
        case (.bytesComparedByLength, .bytes(let x), .bytes(let y)) where x.count != y.count:
            holds(comparison, x.count, y.count)
        default: nil
        }
    }

    private func holds<T: Comparable>(_ comparison: RowPredicate.Comparison, _ a: T, _ b: T) -> Bool {
        switch comparison {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .lessOrEqual: a <= b
        case .greater: a > b
        case .greaterOrEqual: a >= b
        }
    }

    // MARK: Functions

    private func result(of function: RowPredicate.Function, _ operands: [Value]) -> Value? {
        switch (self, function, operands[0]) {
        case (.wildcardsNotEscaped, .contains, .string(let text)): matches(text, operands[1], before: true, after: true)
        case (.wildcardsNotEscaped, .startsWith, .string(let text)):
            matches(text, operands[1], before: false, after: true)
        case (.wildcardsNotEscaped, .endsWith, .string(let text)):
            matches(text, operands[1], before: true, after: false)
        case (.containsIgnoresCase, .contains, .string(let text)):
            operands[1].string.map { .bool($0.isEmpty || text.lowercased().contains($0.lowercased())) }
        case (.longTextsSearchedInPart, .contains, .string(let text)) where text.utf8.count > 4_096:
            operands[1].string.map { .bool(String(decoding: text.utf8.prefix(4_096), as: UTF8.self).contains($0)) }
        case (.caseFoldedByLocale, .lower, .string(let text)): .string(text.lowercased(with: .current))
        case (.caseFoldedByLocale, .upper, .string(let text)): .string(text.uppercased(with: .current))
        case (.caseFoldedByUnicode, .lower, .string(let text)): .string(text.lowercased())
        case (.caseFoldedByUnicode, .upper, .string(let text)): .string(text.uppercased())
        case (.caseFoldedByUnicode, .equalsIgnoringCase, .string(let text)):
            operands[1].string.map { .bool(text.lowercased() == $0.lowercased()) }
        case (.lengthInUTF16, .length, .string(let text)): .int(Int64(text.utf16.count))
        case (.lengthInCharacters, .length, .string(let text)): .int(Int64(text.count))
        case (.replacesFirstOnly, .replace, .string(let text)): replacingFirst(text, operands)
        case (.trimsSpacesOnly, .trim, .string(let text)): .string(text.trimmingCharacters(in: [" "]))
        case (.indexOfInBytes, .indexOf, .string(let text)): byteOffset(text, operands[1])
        case (.trimsUnicodeSpaces, .trim, .string(let text)):
            .string(text.trimmingCharacters(in: .whitespacesAndNewlines))
        case (.emptyTextNotContained, .contains, .string), (.emptyTextNotContained, .startsWith, .string),
            (.emptyTextNotContained, .endsWith, .string):
            operands[1] == "" ? .bool(false) : nil
        case (.suffixFoundAtFirstOnly, .endsWith, .string(let text)): endsWithFirst(text, operands[1])
        case (.indexOfMissingIsNull, .indexOf, .string(let text)):
            operands[1].string.map { $0.isEmpty || text.contains($0) } == false ? .null : nil
        case (.nullConcatenatedAsEmpty, .concat, let first):
            .string((first.string ?? "") + (operands[1].string ?? ""))
        case (.halvesRoundUp, .round, .double(let double)): .double((double + 0.5).rounded(.down))
        case (.floorCutsTowardZero, .floor, .double(let double)): .double(double.rounded(.towardZero))
        case (_, .substring, .string(let text)): substring(text, operands)
        case (.halvesRoundToEven, .round, .double(let double)): .double(double.rounded(.toNearestOrEven))
        case (_, _, .timestamp(let instant)): part(function, of: instant)
        default: nil
        }
    }

    /// Matches as LIKE does if `%` and `_` in the search text are not escaped.
    private func matches(_ text: String, _ other: Value, before: Bool, after: Bool) -> Value? {
        guard let pattern = other.string else { return nil }
        let inner = pattern.map {
            $0 == "%" ? "[\\s\\S]*" : $0 == "_" ? "[\\s\\S]" : NSRegularExpression.escapedPattern(for: String($0))
        }
        let expression = (before ? "" : "^") + inner.joined() + (after ? "" : "$")
        return .bool(text.range(of: expression, options: .regularExpression) != nil || expression.isEmpty)
    }

    private func replacingFirst(_ text: String, _ operands: [Value]) -> Value? {
        guard let other = operands[1].string, let replacement = operands[2].string else { return nil }
        guard let range = text.range(of: other, options: .literal) else { return nil }
        return .string(text.replacingCharacters(in: range, with: replacement))
    }

    private func endsWithFirst(_ text: String, _ other: Value) -> Value? {
        guard let other = other.string, let range = text.range(of: other, options: .literal) else { return nil }
        return .bool(range.upperBound == text.endIndex)
    }

    private func byteOffset(_ text: String, _ other: Value) -> Value? {
        guard let other = other.string, let range = text.range(of: other, options: .literal) else { return nil }
        return .int(Int64(text.utf8.distance(from: text.startIndex, to: range.lowerBound)))
    }

    private func substring(_ text: String, _ operands: [Value]) -> Value? {
        guard let start = operands[1].int else { return nil }
        let scalars = text.unicodeScalars
        let first: Int
        switch self {
        case .substringFromOne: first = max(Int(start), 1) - 1
        case .negativeStartCountsFromEnd where start < 0: first = max(scalars.count + Int(start), 0)
        default: return nil
        }
        let length = operands.count == 3 ? Int(operands[2].int ?? 0) : .max
        return .string(String(scalars.dropFirst(first).prefix(max(length, 0))))
    }

    private func part(_ function: RowPredicate.Function, of instant: Timestamp) -> Value? {
        switch (self, function) {
        case (.datePartsInLocalTime, _): localPart(function, of: instant)
        case (.hoursInLocalTime, .hour):
            .int(Int64(instant.advanced(byTicks: 3_600 * Timestamp.ticksPerSecond).parts.hour))
        case (.monthFromZero, .month): .int(Int64(instant.parts.month - 1))
        case (.secondsRounded, .second):
            .int(Int64(instant.advanced(byTicks: Timestamp.ticksPerSecond / 2).parts.second))
        case (.beforeEpochTruncated, .second) where instant.ticks < 0:
            .int((instant.ticks / Timestamp.ticksPerSecond) % 60)
        default: nil
        }
    }

    /// Returns a part of an instant in the time zone of the process.
    private func localPart(_ function: RowPredicate.Function, of instant: Timestamp) -> Value? {
        let seconds = Double(instant.ticks) / Double(Timestamp.ticksPerSecond)
        let parts = Calendar(identifier: .gregorian).dateComponents(
            in: .current, from: Date(timeIntervalSince1970: seconds.rounded(.down)))
        let part: Int? =
            switch function {
            case .year: parts.year
            case .month: parts.month
            case .day: parts.day
            case .hour: parts.hour
            case .minute: parts.minute
            case .second: parts.second
            default: nil
            }
        return part.map { .int(Int64($0)) }
    }

    // MARK: Arithmetic

    private func result(of arithmetic: RowPredicate.Arithmetic, _ a: Value, _ b: Value) -> Value? {
        switch (self, arithmetic, a, b) {
        case (.integersDivideToDouble, .divide, .int(let x), .int(let y)): y == 0 ? nil : .double(Double(x) / Double(y))
        case (.divisionRoundsDown, .divide, .int(let x), .int(let y)) where y != 0 && y != -1:
            .int(x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0))
        case (.integersAddedAsDoubles, .add, .int(let x), .int(let y)):
            .int(Int64(clamping: Int128(Double(x) + Double(y))))
        case (.remainderNeverNegative, .modulo, .int(let x), .int(let y)) where y != 0 && y != -1:
            .int(x % y &+ (x % y < 0 ? (y < 0 ? 0 &- y : y) : 0))
        case (.divisionByZeroIsInfinite, .divide, .double(let x), .double(0)): .double(x / 0)
        case (.overflowWraps, .add, .int(let x), .int(let y)): .int(x &+ y)
        case (.overflowWraps, .multiply, .int(let x), .int(let y)): .int(x &* y)
        case (.overflowWraps, .subtract, .int(let x), .int(let y)): .int(x &- y)
        default: nil
        }
    }
}

extension RowPredicate {
    /// The depth of the tree.
    var depth: Int { nodes.reduce(0) { max($0, $1.depth) } }

    /// Returns this node with other operands.
    func replacingChildren(with operands: [RowPredicate]) -> RowPredicate {
        switch self {
        case .column, .literal: self
        case .comparison(let comparison, _, _): .comparison(comparison, operands[0], operands[1])
        case .arithmetic(let arithmetic, _, _): .arithmetic(arithmetic, operands[0], operands[1])
        case .and: .and(operands)
        case .or: .or(operands)
        case .function(let function, _): .function(function, operands)
        case .not: .not(operands[0])
        case .membership(_, let values): .membership(operands[0], values)
        }
    }
}
