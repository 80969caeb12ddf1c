#if Benchmark
import CTestSupport
import Foundation
import RegexBuilder
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineBaselines
import TidelineBenchmark
import TidelineConformance
import TidelineFaults
import TidelineKeyValue
import TidelineLMDB
import TidelineLevelDB
import TidelineLive
import TidelineMacros
import TidelineMemory
import TidelinePostgreSQL
import TidelineSQLite
import TidelineServer
import TidelineServerConformance
import TidelineSimulation
import TidelineStore
import TidelineURLSession

// Every public type, without its module, in a file that also imports Foundation, RegexBuilder, Testing, and the names
// of SwiftUI, Combine, SwiftData, Observation, and SQLiteData. A name that two modules define would be ambiguous here.
// `Column`, `ForeignKey` and `Row` are ambiguous in a file that also imports GRDB, where they are written
// `TidelineStore.Row`; a test of Benchmarks/GRDB does so.

private func tidelineStore(
    _: AnyStore.Type, _: Column<Bool>.Type, _: ColumnSchema.Type, _: ColumnType.Type, _: any ColumnValue.Type,
    _: CompiledPredicate.Type, _: Evaluator.Type, _: ExternalCommits.Type, _: ForeignKey.Type, _: ID<Bool>.Type,
    _: IndexSchema.Type, _: any JSONColumnValue.Type, _: any LocalStore.Type, _: OperandType.Type, _: OrderTerm.Type,
    _: PackedRows.Type, _: TableQuery.Type, _: QueryResult.Type, _: any ReaderLayer.Type, _: RecordQuery<Named>.Type,
    _: RecordReader.Type, _: RecordWriter.Type, _: ResolvedColumn<Bool>.Type, _: Row.Type, _: any RowCondition.Type,
    _: RowID.Type, _: RowOrder.Type, _: RowPredicate.Type, _: RowShape.Type, _: RowTag.Type, _: RowView.Type,
    _: ScanStep.Type, _: StoreCapabilities.Type, _: StoreError.Type, _: any StoreLayer.Type, _: any StoreReader.Type,
    _: any StoreWriter.Type, _: SystemColumns.Type, _: SystemTables.Type, _: TableEvolution.Type,
    _: any TableRecord.Type, _: TableSchema.Type, _: any TextColumnValue.Type, _: Timestamp.Type, _: Value.Type,
    _: any ValueConvertible.Type, _: any WriterLayer.Type
) {}

private func tidelineLive(
    _: LiveChanges.Type, _: LiveQuery<Row>.Type, _: LiveRows<Row>.Type, _: LiveSnapshot<Row>.Type,
    _: LiveUpdate<Row>.Type, _: LiveValue<Int>.Type, _: ObservedStore<AnyStore>.Type,
    _: ObservedWriter<AnyStore.Writer>.Type
) {}

private func tideline(
    _: AnswerMeaning.Type, _: ChangeSignals.Type, _: any ConnectivityMonitor.Type, _: ColumnConflict.Type,
    _: ConflictDecision.Type, _: any CustomDialect.Type, _: DialectConnection.Type, _: JSONFields.Type,
    _: PageRequest.Type, _: RowRequest.Type, _: ServerPage<Int>.Type, _: ServerRequest.Type, _: ConflictPolicy.Type,
    _: MergeRule.Type, _: any MergingRecord.Type, _: RowConflict.Type, _: ForcePurgeResult.Type,
    _: OperationFailure.Type, _: OperationKind.Type, _: PullProgress.Type, _: PullResult.Type, _: PullSettings.Type,
    _: PullToken.Type, _: PushOperation.Type, _: PushProgress.Type, _: PushResult.Type, _: PushSettings.Type,
    _: RemoteTable.Type, _: RetryPolicy.Type, _: ServerDialect.Type, _: SignedInUser.Type, _: SkippedRow.Type,
    _: SyncSubscription.Type, _: SyncClient<AnyStore>.Type, _: SyncContext<AnyStore>.Type,
    _: any SyncContextDelegate.Type, _: SyncEnvironment.Type, _: SyncError.Type, _: SyncOptions.Type,
    _: SyncSettings.Type, _: SyncStatus.Type, _: SyncTable.Type, _: SyncTransaction.Type, _: RecordTable<Named>.Type,
    _: TableComparison.Type, _: TableOperation.Type, _: TableRepair.Type, _: TableOperationError.Type,
    _: any Transport.Type, _: TransportError.Type, _: TransportResponse.Type
) {}

private func transports(
    _: AsyncHTTPClientTransport.Type, _: URLSessionTransport.Type, _: URLSessionTransport.Options.Type
) {}

private func tidelineServer(
    _: Caller.Type, _: ChangeEvents.Type, _: ChangeResponse.Type, _: ChangeSignal<AnyStore>.Type,
    _: ChangeSignalOptions.Type, _: ServedRequest.Type, _: TableResponse.Type, _: TableRights.Type,
    _: TableService<AnyStore>.Type, _: TableServiceOptions.Type
) {}

private func tidelineSimulation(
    _: AcknowledgedEdit.Type, _: Intermediary.Type, _: Seeds.Type, _: ServerQuirks.Type, _: SimulatedDevice.Type,
    _: SimulatedWorld.Type, _: Simulation.Type, _: SimulationError.Type, _: SimulationFailure.Type,
    _: SimulationResult.Type, _: SimulationSchedule.Type, _: SimulationState.Type, _: SimulationStep.Type,
    _: Violation.Type
) {}

private func stores(
    _: KeyRange.Type, _: any KeyValueSnapshot.Type, _: KeyValueStore<MemoryEngine>.Type, _: KeyValueStoreReader.Type,
    _: KeyValueStoreWriter.Type, _: any KeyValueTransaction.Type, _: any OrderedKeyValueEngine.Type,
    _: OverlayTransaction<MemorySnapshot>.Type, _: QueryPlan.Type, _: SQLiteOptions.Type, _: SQLiteReader.Type,
    _: SQLiteStore.Type, _: SQLiteWriter.Type, _: LMDBEngine.Type, _: LMDBOptions.Type, _: LMDBSnapshot.Type,
    _: LMDBStore.Type, _: LMDBTransaction.Type, _: LevelDBEngine.Type, _: LevelDBOptions.Type, _: LevelDBRepair.Type,
    _: LevelDBSnapshot.Type, _: LevelDBStore.Type, _: LevelDBTransaction.Type, _: PostgreSQLOptions.Type,
    _: PostgreSQLReader.Type, _: PostgreSQLStore.Type, _: PostgreSQLWriter.Type, _: MemoryEngine.Type,
    _: MemorySnapshot.Type, _: MemoryStore.Type, _: MemoryTransaction.Type
) {}

private func conformance(
    _: Check.Type, _: CheckGroup.Type, _: CheckNeed.Type, _: CheckResult.Type, _: CheckStatus.Type,
    _: CheckSummary.Type, _: CheckTier.Type, _: ConformanceChild.Type, _: ConformanceEvent.Type,
    _: ConformanceFailure.Type, _: ConformanceReport.Type, _: ConformanceRun.Type, _: ConformanceSettings.Type,
    _: ConformanceSuite.Type, _: FileDecision.Type, _: any FileFaults.Type, _: any FileObserver.Type,
    _: FileOperation.Type, _: KnownFailures.Type, _: Profile.Type, _: ProfileVerdict.Type, _: ReportSettings.Type,
    _: StatusTotals.Type, _: StoreHarness.Type, _: StoreOpening.Type, _: StoreProcess.Type, _: StoreReport.Type,
    _: SuiteSummary.Type, _: ConformanceCommand.Type, _: ConformanceOptions.Type, _: ConformanceProgram.Type,
    _: ConformanceStores.Type, _: DialectConformance.Type, _: ServerCheck.Type, _: ServerConformance.Type,
    _: ServerConformanceError.Type, _: InterposedFiles.Type
) {}

private func benchmark(
    _: Answer.Type, _: BenchmarkOpening.Type, _: any BenchmarkSession.Type, _: BenchmarkStore.Type,
    _: BenchmarkSubject.Type, _: BenchmarkTable.Type, _: JSONPages.Type, _: KeyOrder.Type, _: LatencySink.Type,
    _: LocalEdit.Type, _: MixedStep.Type, _: ReferenceSession.Type, _: RowBatch.Type, _: RowChecksum.Type,
    _: LiveWork.Type, _: RowFilter.Type, _: RowSource.Type, _: SyncServer.Type, _: SyncWork.Type, _: Work.Type,
    _: WorkNotApplicable.Type, _: BenchCommand.Type, _: BenchOptions.Type, _: BenchStores.Type, _: Baselines.Type
) {}

/// A record, for generic types that need one.
private struct Named: TableRecord {
    var id: ID<Named>
    static let columns = 0
    static let tableName = "Named"
    static let schema = TableSchema(tableName, columns: [])
    init(from row: inout RecordReader) { id = row.id() }
    func write(to row: inout RecordWriter) {}
}

@Suite("Public names")
struct PublicNameTests {
    @Test("Every type on the lists of the public API is named in this file")
    func isComplete() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let lists = try FileManager.default.contentsOfDirectory(
            at: packageFolder.appendingPathComponent("docs/api"), includingPropertiesForKeys: nil)
        #expect(lists.count >= 15)
        for list in lists {
            for line in try String(contentsOf: list, encoding: .utf8).split(separator: "\n") {
                guard let type = line.firstMatch(of: typeDeclaration)?.1 else { continue }
                let use = Regex {
                    "_: "
                    Optionally("any ")
                    String(type)
                    CharacterClass.anyOf(".<")
                }
                #expect(source.contains(use), "\(type) of \(list.lastPathComponent) is not named")
            }
        }
    }

    /// A line such as `Row: struct Row`, which declares a type that is not nested in another.
    private var typeDeclaration: Regex<(Substring, Substring)> {
        Regex {
            Anchor.startOfLine
            Capture { OneOrMore(.word) }
            ": "
            ZeroOrMore {
                ChoiceOf {
                    "final "
                    "indirect "
                }
            }
            ChoiceOf {
                "struct "
                "class "
                "enum "
                "actor "
                "protocol "
                "typealias "
            }
        }
    }
}
#endif
