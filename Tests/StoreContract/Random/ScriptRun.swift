import TidelineStore
import TidelineTestStores

/// A script carried out on a store and on a model of it, compared after each step.
struct ScriptRun {
    private struct RollBack: Error {}

    private let kind: StoreKind
    private let files: StoreFiles?
    private var store: AnyStore
    private var model = TableModel()

    private init(_ kind: StoreKind) throws {
        self.kind = kind
        files = kind.isPersistent ? try StoreFiles(kind) : nil
        store = try files?.open() ?? kind.makeStore()
    }

    /// Where store and model part, nil when they do not.
    static func failure(of script: Script, on kind: StoreKind) -> String? {
        do {
            var run = try ScriptRun(kind)
            for (number, step) in script.steps.enumerated() {
                if let difference = try run.perform(step) ?? run.difference() {
                    return "step \(number): \(difference)"
                }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    private mutating func perform(_ step: Script.Step) throws -> String? {
        switch step {
        case .define(let schema):
            model.define(schema)
            try store.define([schema])
        case .reopen:
            guard let files else { return nil }
            try store.close()
            store = try files.open()
        case .write(let changes, let commits): return try write(changes, commits: commits)
        }
        return nil
    }

    /// The changes in one write of the store; it must be refused when one of them is, and as the model says.
    private mutating func write(_ changes: [Script.Change], commits: Bool) throws -> String? {
        var copy = model
        var difference: String?
        var refusal: StoreError.Code?
        do {
            try store.write { writer in
                for change in changes {
                    let expected = Self.applying(change, to: &copy, refusal: &refusal)
                    let count = try Self.perform(change, by: writer)
                    if refusal != nil { difference = "was not refused: \(change.swiftSource)" }
                    if count != expected {
                        difference = difference ?? "\(count ?? -1) rows deleted, not \(expected ?? -1)"
                    }
                    difference = try difference ?? copy.difference(in: writer)
                    if difference != nil { throw RollBack() }
                }
                if !commits { throw RollBack() }
            }
            model = copy
        } catch is RollBack {
            return difference
        } catch let error as StoreError where error.code == refusal {
            return nil
        }
        return nil
    }

    private static func applying(
        _ change: Script.Change, to model: inout TableModel, refusal: inout StoreError.Code?
    ) -> Int? {
        do { return try model.apply(change) } catch let error as TableModel.Refusal { refusal = error.code } catch {}
        return nil
    }

    private static func perform(_ change: Script.Change, by writer: AnyWriter) throws -> Int? {
        switch change {
        case .upsert(let rows):
            try writer.upsert(rows, into: Script.table)
            return nil
        case .delete(let ids): return try writer.delete(ids: ids, from: Script.table)
        case .deleteMatching(let query): return try writer.delete(matching: query)
        }
    }

    private func difference() throws -> String? { try store.read { try model.difference(in: $0) } }
}

extension TableModel {
    /// How the table, read in order of id and along each index both ways, differs from this, nil when it does not.
    fileprivate func difference(in reader: AnyReader) throws -> String? { try comparison(with: reader) }
    fileprivate func difference(in writer: AnyWriter) throws -> String? { try comparison(with: writer) }

    private func comparison(with reader: some StoreReader) throws -> String? {
        guard let schema else { return nil }
        let packed = try schema.packed(rows)
        for query in [Query(schema.name)] + schema.indexes.flatMap(\.queries) {
            let expected = try Answer.expected(query, schema, packed)
            if let difference = try Answer.of(reader, query).difference(from: expected) {
                return "\(query.swiftSource): \(difference)"
            }
        }
        for row in rows {
            guard let id = row.key, let found = try reader.row(in: schema.name, id: id), found.isIdentical(to: row)
            else { return "\(row) is not found by its id" }
        }
        return nil
    }
}

extension IndexSchema {
    fileprivate var queries: [Query] {
        [false, true].map { descending in
            Query(Script.table, order: columns.map { OrderTerm($0, descending: descending) })
        }
    }
}
