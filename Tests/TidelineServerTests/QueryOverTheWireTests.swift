import Testing
import TidelineConformance
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

struct QueryOverTheWireTests {
    private static let schema: TableSchema = {
        var schema = RandomRows.everyType()
        schema.systemColumns = .all
        return schema
    }()

    @Test(arguments: StoreKind.served, 0..<12)
    func `a query over the wire is answered as the evaluator answers it`(_ stores: StoreKind, _ seed: UInt64) throws {
        // JSON has no infinity.
        var source = RandomRows(seed: seed, values: RandomValues(includesInfinity: false))
        let rows = source.rows(40, of: Self.schema)
        let fixture = try ServiceFixture(stores, schemas: [Self.schema])
        try fixture.store.write { try $0.upsert(rows, into: "Item") }
        var packed = PackedRows(shape: Self.schema.makeShape())
        for row in rows { try packed.append(row) }
        var queries = RandomQuery(seed: seed, schema: Self.schema, rows: rows, values: source.values)
        let evaluator = Evaluator(schema: Self.schema)
        var compared = 0
        for _ in 0..<150 {
            var query = queries.next()
            if let predicate = query.predicate, !predicate.keepsTypes { continue }
            query.limit = query.limit ?? 1_000
            guard let expected = try? evaluator.result(of: query, over: packed),
                let request = try? ZUMODialect().read(
                    query, schema: Self.schema, options: ReadOptions(includeDeleted: true))
            else { continue }
            let found = try fixture.rows(fixture.send(request))
            #expect(found.rows.map(\.id) == expected.rows.map(\.id), "\(request.target)")
            #expect(found.info.totalCount == expected.totalCount.map(Int64.init))
            // A response without `$select` contains all columns.
            for (row, wanted) in zip(found.rows, expected.rows) {
                for (name, value) in wanted.values where value.double?.isFinite ?? true { #expect(row[name] == value) }
            }
            compared += 1
        }
        #expect(compared >= 60, "too few queries could be said")
    }
}

extension RowPredicate {
    /// Whether every literal keeps its type on the wire. Otherwise, the column it is compared with determines the type.
    fileprivate var keepsTypes: Bool {
        switch self {
        case .comparison(_, .column(let name), .literal(let value)),
            .comparison(_, .literal(let value), .column(let name)):
            value.isNull || value.type == RandomRows.everyType().column(name)?.type
                || ![.string, .json, .bytes].contains(value.type)
        case .literal(let value): value.type != .json && value.type != .bytes
        case .membership(let member, let values):
            values.allSatisfy { RowPredicate.comparison(.equal, member, .literal($0)).keepsTypes }
        default: children.allSatisfy(\.keepsTypes)
        }
    }
}
