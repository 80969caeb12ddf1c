package import TidelineStore

/// A value that can be printed as Swift, so that a randomly found failure can be copied into a test.
package protocol SwiftSource {
    /// An expression that creates the value.
    var swiftSource: String { get }
}

extension Array: SwiftSource where Element: SwiftSource {
    package var swiftSource: String { "[\(map(\.swiftSource).joined(separator: ", "))]" }
}

extension String: SwiftSource {
    /// A literal; a long run of one character at its start is abbreviated.
    package var swiftSource: String {
        guard let first, unicodeScalars.count > 40 else { return literal }
        let rest = drop { $0 == first }
        let run = distance(from: startIndex, to: rest.startIndex)
        guard run > 20 else { return literal }
        let tail = rest.isEmpty ? "" : " + \(String(rest).literal)"
        return "String(repeating: \(String(first).literal), count: \(run))\(tail)"
    }

    private var literal: String {
        let escaped = unicodeScalars.map { scalar in
            scalar.isASCII && scalar.value >= 0x20 && scalar.value < 0x7F && scalar != "\"" && scalar != "\\"
                ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return "\"\(escaped.joined())\""
    }
}

extension Value: SwiftSource {
    package var swiftSource: String {
        switch self {
        case .null: ".null"
        case .bool(let value): ".bool(\(value))"
        case .int(let value): ".int(\(value))"
        case .double(let value) where value.isNaN: ".double(.nan)"
        case .double(let value) where value.isInfinite: ".double(\(value < 0 ? "-" : "").infinity)"
        case .double(let value): ".double(\(value))"
        case .string(let value): ".string(\(value.swiftSource))"
        case .timestamp(let value): ".timestamp(Timestamp(clampingTicks: \(value.ticks)))"
        case .bytes(let value): ".bytes(\(value))"
        case .json(let value): ".json(\(value.swiftSource))"
        }
    }
}

extension RowID: SwiftSource {
    package var swiftSource: String {
        switch self {
        case .string(let text): ".string(\(text.swiftSource))"
        case .int(let number): ".int(\(number))"
        }
    }
}

extension Row: SwiftSource {
    package var swiftSource: String {
        let id = id.map { [("id", $0.value)] } ?? []
        let columns = (id + values).map { "\($0.0.swiftSource): \($0.1.swiftSource)" }
        return columns.isEmpty ? "[:]" : "[\(columns.joined(separator: ", "))]"
    }
}

extension RowPredicate: SwiftSource {
    package var swiftSource: String {
        switch self {
        case .column(let name): ".column(\(name.swiftSource))"
        case .literal(let value): ".literal(\(value.swiftSource))"
        case .comparison(let comparison, let a, let b):
            ".comparison(.\(comparison), \(a.swiftSource), \(b.swiftSource))"
        case .and(let conditions): ".and(\(conditions.swiftSource))"
        case .or(let conditions): ".or(\(conditions.swiftSource))"
        case .not(let condition): ".not(\(condition.swiftSource))"
        case .membership(let operand, let values): ".membership(\(operand.swiftSource), \(values.swiftSource))"
        case .function(let function, let operands): ".function(.\(function), \(operands.swiftSource))"
        case .arithmetic(let operation, let a, let b):
            ".arithmetic(.\(operation), \(a.swiftSource), \(b.swiftSource))"
        }
    }
}

extension TableQuery: SwiftSource {
    package var swiftSource: String {
        var parts = [table.swiftSource]
        if let predicate { parts.append("predicate: \(predicate.swiftSource)") }
        if !order.isEmpty {
            let terms = order.map { "OrderTerm(\($0.column.swiftSource), descending: \($0.isDescending))" }
            parts.append("order: [\(terms.joined(separator: ", "))]")
        }
        if skip != 0 { parts.append("skip: \(skip)") }
        if let limit { parts.append("limit: \(limit)") }
        if let selection { parts.append("selection: \(selection.swiftSource)") }
        if includesTotalCount { parts.append("includesTotalCount: true") }
        return "TableQuery(\(parts.joined(separator: ", ")))"
    }
}

extension TableSchema: SwiftSource {
    package var swiftSource: String {
        let columns = columns.map { column in
            ".\(column.type)(\(column.name.swiftSource)\(column.isOptional ? "" : ", optional: false"))"
        }
        let indexes = indexes.map(\.columns.swiftSource)
        return """
            TableSchema(\(name.swiftSource), columns: [\(columns.joined(separator: ", "))], \
            systemColumns: .init(rawValue: \(systemColumns.rawValue)), idType: .\(idType), \
            idMatching: .\(idMatching), indexes: [\(indexes.joined(separator: ", "))]\(isSystem ? ", isSystem: true" : ""))
            """
    }
}
