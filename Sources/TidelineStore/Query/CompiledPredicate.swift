/// A predicate that was checked against a table and compiled for rows of one shape; see ``Evaluator/compile(_:for:)``.
///
/// The tree is compiled to steps in postfix order over a stack of values. A tree of any depth therefore needs no deep
/// call stack, and columns are found by position.
public struct CompiledPredicate: Sendable {
    /// The type of the predicate's values.
    public let type: OperandType
    let steps: [Step]

    /// The step for each kind of node. Operands are on the stack, the last one on top.
    enum Step: Sendable {
        case id
        /// The column at a position, or null if the shape lacks it.
        case column(Int?)
        case literal(Value)
        case comparison(RowPredicate.Comparison, ignoringCase: Bool)
        case and(Int)
        case or(Int)
        case not
        case membership([Value], ignoringCase: Bool)
        case function(RowPredicate.Function, operandCount: Int)
        case arithmetic(RowPredicate.Arithmetic)
    }

    init(_ predicate: RowPredicate, schema: TableSchema, definition: RowShape, shape: RowShape) throws(StoreError) {
        var compiler = Compiler(schema: schema, definition: definition, shape: shape)
        type = try compiler.compile(predicate)
        steps = compiler.steps
    }

    /// Returns whether the row satisfies the predicate. A value that is not true counts as false.
    public func matches(_ row: borrowing RowView) -> Bool { value(in: row) == .bool(true) }

    /// Returns the predicate's value for a row with the shape that the predicate was compiled for.
    public func value(in row: borrowing RowView) -> Value {
        var stack: [Value] = []
        stack.reserveCapacity(steps.count)
        for step in steps { CompiledPredicate.run(step, row, &stack) }
        return stack.removeLast()
    }

    static func run(_ step: Step, _ row: borrowing RowView, _ stack: inout [Value]) {
        switch step {
        case .id: stack.append(row.id.value)
        case .column(let index): stack.append(index.flatMap { row.value(at: $0) } ?? .null)
        case .literal(let value): stack.append(value)
        case .comparison(let comparison, let ignoringCase):
            let b = stack.removeLast()
            let a = stack.removeLast()
            stack.append(.bool(comparison.holds(a, b, ignoringCase: ignoringCase)))
        case .and(let count): stack.replaceLast(count) { .bool($0.allSatisfy { $0 == .bool(true) }) }
        case .or(let count): stack.replaceLast(count) { .bool($0.contains { $0 == .bool(true) }) }
        case .not: stack.append(.bool(stack.removeLast() != .bool(true)))
        case .membership(let values, let ignoringCase):
            let operand = stack.removeLast()
            stack.append(.bool(values.contains { Value.areEqual(operand, $0, ignoringCase: ignoringCase) }))
        case .function(let function, let count): stack.replaceLast(count) { function.result(of: Array($0)) }
        case .arithmetic(let arithmetic):
            let b = stack.removeLast()
            let a = stack.removeLast()
            stack.append(arithmetic.result(of: a, b))
        }
    }
}

extension [Value] {
    fileprivate mutating func replaceLast(_ count: Int, with result: (ArraySlice<Value>) -> Value) {
        let value = result(self[(self.count - count)...])
        removeLast(count)
        append(value)
    }
}

extension RowPredicate.Comparison {
    /// Returns whether the comparison holds between two values.
    func holds(_ a: Value, _ b: Value, ignoringCase: Bool) -> Bool {
        switch self {
        case .equal: Value.areEqual(a, b, ignoringCase: ignoringCase)
        case .notEqual: !Value.areEqual(a, b, ignoringCase: ignoringCase)
        case .less: Value.ordering(a, b, ignoringCase: ignoringCase) == .less
        case .greater: Value.ordering(a, b, ignoringCase: ignoringCase) == .greater
        case .lessOrEqual: [.less, .equal].contains(Value.ordering(a, b, ignoringCase: ignoringCase))
        case .greaterOrEqual: [.greater, .equal].contains(Value.ordering(a, b, ignoringCase: ignoringCase))
        }
    }
}

// MARK: - Compiling

extension CompiledPredicate {
    /// Walks the tree without recursion, children first, and tracks the types of the operands on the stack.
    private struct Compiler {
        let schema: TableSchema
        /// The table's columns and types, looked up by the bytes of the name.
        let definition: RowShape
        let shape: RowShape
        var steps: [Step] = []
        var types: [OperandType] = []

        mutating func compile(_ predicate: RowPredicate) throws(StoreError) -> OperandType {
            var pending = [(node: predicate, hasOperands: false)]
            while let (node, hasOperands) = pending.popLast() {
                let children = hasOperands ? [] : node.children
                if children.isEmpty {
                    try emit(node)
                } else {
                    pending.append((node, true))
                    pending.append(contentsOf: children.reversed().map { ($0, false) })
                }
            }
            return types.removeLast()
        }

        private mutating func emit(_ node: RowPredicate) throws(StoreError) {
            let operands = popTypes(node.children.count)
            switch node {
            case .column(let name): try emitColumn(name)
            case .literal(let value): push(.literal(value), OperandType(value))
            case .comparison(let comparison, let a, let b):
                try requireComparable(a, operands[0], with: b, operands[1])
                try requireComparable(b, operands[1], with: a, operands[0])
                let ignoringCase = ignoresCase(a) || ignoresCase(b)
                push(.comparison(comparison, ignoringCase: ignoringCase), .value(.bool))
            case .membership(let operand, let values):
                for value in values {
                    try requireComparable(operand, operands[0], with: .literal(value), OperandType(value))
                }
                push(.membership(values, ignoringCase: ignoresCase(operand)), .value(.bool))
            case .and(let terms):
                try requireConditions(operands, of: "and")
                push(.and(terms.count), .value(.bool))
            case .or(let terms):
                try requireConditions(operands, of: "or")
                push(.or(terms.count), .value(.bool))
            case .not:
                try requireConditions(operands, of: "not")
                push(.not, .value(.bool))
            case .function(let function, _): try emit(function, over: operands)
            case .arithmetic(let arithmetic, _, _):
                guard let type = arithmetic.resultType(of: operands[0], operands[1]) else {
                    throw unsupported("\(arithmetic.rawValue) takes numbers only")
                }
                push(.arithmetic(arithmetic), type)
            }
        }

        private mutating func emitColumn(_ name: String) throws(StoreError) {
            if name == "id" {
                push(.id, .value(schema.idType == .int ? .int : .string))
                return
            }
            guard let index = definition.index(of: name) else {
                throw StoreError.undefinedColumn(name, in: schema)
            }
            push(.column(shape.index(of: name)), .value(definition.columns[index].type))
        }

        private mutating func emit(_ function: RowPredicate.Function, over operands: [OperandType]) throws(StoreError) {
            guard function.arity.contains(operands.count) else {
                throw unsupported("\(function.rawValue) does not take \(operands.count) operands")
            }
            guard let type = function.resultType(of: operands) else {
                throw unsupported("\(function.rawValue) does not take operands of these types")
            }
            push(.function(function, operandCount: operands.count), type)
        }

        private mutating func push(_ step: Step, _ type: OperandType) {
            steps.append(step)
            types.append(type)
        }

        private mutating func popTypes(_ count: Int) -> [OperandType] {
            // Take a slice first: `suffix` of a sequence, chosen if the result is an array, iterates over the whole
            // array.
            let operands = Array(types[(types.count - count)...])
            types.removeLast(count)
            return operands
        }

        private func ignoresCase(_ operand: RowPredicate) -> Bool {
            if case .column("id") = operand { schema.foldsID } else { false }
        }

        private func requireConditions(_ operands: [OperandType], of user: String) throws(StoreError) {
            guard operands.allSatisfy(\.isCondition) else { throw unsupported("\(user) takes conditions only") }
        }

        private func requireComparable(
            _ operand: RowPredicate, _ type: OperandType, with other: RowPredicate, _ otherType: OperandType
        ) throws(StoreError) {
            guard case .column(let name) = operand, case .value(let columnType) = type,
                !type.isComparable(with: otherType)
            else { return }
            throw StoreError(
                .invalidValue,
                "column \(name.debugDescription) is \(columnType.rawValue); it cannot be compared with "
                    + other.account(of: otherType), table: schema.name, column: name)
        }

        private func unsupported(_ message: String) -> StoreError {
            StoreError(.unsupportedQuery, message, table: schema.name)
        }
    }
}

extension RowPredicate {
    /// A description of this operand for a message about its type.
    fileprivate func account(of type: OperandType) -> String {
        switch self {
        case .literal(.string(let text)): "the string \(String(text.prefix(100)).debugDescription)"
        case .literal(.json(let text)): "the JSON \(text.prefix(100))"
        case .literal(.bytes(let bytes)): "\(bytes.count) bytes"
        case .literal(let value): "the \(type) \(value)"
        case .column(let name): "column \(name.debugDescription), which is \(type)"
        default: "a value of type \(type)"
        }
    }
}

extension StoreError {
    package static func undefinedColumn(_ name: String, in schema: TableSchema) -> StoreError {
        StoreError(
            .invalidValue, "the query names a column that the table does not define\(schema.suggestion(for: name))",
            table: schema.name, column: name)
    }
}
