import GRDB
import Testing
import Tideline
import TidelineSQLite

// Names of Tideline in a file that also imports GRDB. Both declare `Column`, `ForeignKey` and `Row`; the module's name
// before them says which is meant.

private func namesOfBoth(
    _: GRDB.Column.Type, _: GRDB.ForeignKey.Type, _: GRDB.Row.Type,
    _: TidelineStore.Column<Bool>.Type, _: TidelineStore.ForeignKey.Type, _: TidelineStore.Row.Type
) {}

private func namesOfOne(
    _: TableQuery.Type, _: RowPredicate.Type, _: RowID.Type, _: StoreError.Type, _: TableSchema.Type, _: Value.Type,
    _: SyncClient<SQLiteStore>.Type, _: SyncTable.Type
) {}

@Suite("Names beside GRDB")
struct NamesBesideGRDB {
    @Test("An app makes rows and conditions of both in one file")
    func both() {
        let complete = TidelineStore.Column<Bool>("complete")
        let row: TidelineStore.Row = ["id": "1", "complete": true]
        #expect(row[complete] == true)
        #expect(TableQuery("TodoItem").filter(complete == true && .column("text") == "a").predicate != nil)
        #expect(GRDB.Row(["complete": true])["complete"] as Bool? == true)
        #expect(GRDB.Column("complete").name == complete.name)
    }
}
