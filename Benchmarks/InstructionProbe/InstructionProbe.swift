#if Commands
private import CBaselines
internal import Foundation
internal import TidelineBenchmark

/// Performs one work on one subject while valgrind counts its instructions; see `Benchmarks/instructions`.
///
///     InstructionProbe list                         prints all pairs of subject and work
///     InstructionProbe versions                     prints the versions of the engines
///     InstructionProbe SUBJECT WORK ROWS FOLDER     performs the work and prints its number of units
///     InstructionProbe queue …                      works on a queue; see ``QueueWork``
///
/// `main` is synchronous and performs the work on its thread, because valgrind does not support that the main thread
/// ends before the others, as it does with an asynchronous `main` on Linux.
@main
enum InstructionProbe {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ words: [String]) throws {
        switch words {
        case ["list"]:
            for subject in ProbeSubject.all {
                for work in CountedWork.all where subject.does(work) { print(subject.id, work.id) }
            }
        case ["versions"]:
            for subject in ProbeSubject.all {
                guard let version = try subject.make().engineVersion else { continue }
                print(subject.id, version)
            }
        case _ where words.first == "queue": QueueWork.main(words.dropFirst())
        default:
            guard words.count == 4, let subject = ProbeSubject.all.first(where: { $0.id == words[0] }),
                let work = CountedWork.all.first(where: { $0.id == words[1] && subject.does($0) }),
                let rows = Int(words[2]), rows >= 100
            else { usage() }
            print(try measure(work, by: subject, rows: rows, folder: words[3]))
        }
    }

    /// Performs the work twice, each time on a new database. The first time is not counted and covers one-time work of
    /// the process, such as type metadata.
    private static func measure(
        _ work: CountedWork, by subject: ProbeSubject, rows: Int, folder: String
    ) throws -> Int {
        _ = try ProbeRun(work, by: subject, rows: 100, folder: folder + "/first").run { $0() }
        return try ProbeRun(work, by: subject, rows: rows, folder: folder + "/count").run(counted)
    }

    /// Performs the work inside the function whose calls valgrind counts.
    private static func counted(_ body: () -> Void) {
        // Shortly after a file was made, each commit also looks for its files.
        usleep(100_000)
        withoutActuallyEscaping(body) { body in
            var body = body
            withUnsafeMutablePointer(to: &body) { pointer in
                tideline_measure({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
            }
        }
    }

    private static func usage() -> Never {
        FileHandle.standardError.write(
            Data("usage: InstructionProbe list | versions | SUBJECT WORK ROWS FOLDER | queue …\n".utf8))
        exit(64)
    }
}

/// A workload on a new database.
struct ProbeRun {
    private let workload: Workload
    private let subject: BenchmarkSubject
    private let settings: BenchmarkSettings
    private let rows: Int
    private let folder: String

    init(_ work: CountedWork, by subject: ProbeSubject, rows: Int, folder: String) throws {
        settings = .quick(rows: rows)
        guard let workload = Workload.all(settings, rows: rows).first(where: { $0.id == work.id }) else {
            throw BenchmarkError("there is no workload \(work.id)")
        }
        self.workload = workload
        self.subject = try subject.make()
        self.rows = rows
        self.folder = folder
    }

    /// Creates the database, prepares the work and passes it to `measure`.
    /// - Returns: The number of units.
    func run(_ measure: (() -> Void) -> Void) throws -> Int {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let session = try open()
        let latencies = LatencySink()
        for work in try workload.prepare() { _ = try session.perform(work, noting: latencies) }
        var units: Int?
        for step in workload.steps {
            for work in try step() {
                let (work, partOfUnits) = work.shortened
                if let partOfUnits { units = (units ?? 0) + partOfUnits }
                var result: Result<Answer, any Error> = .success(Answer())
                try session.prepare(work)
                measure { result = Result { try session.perform(work, noting: latencies) } }
                guard try result.get().count > 0 else { throw BenchmarkError("\(workload.id) has an empty answer") }
            }
        }
        try session.close()
        return units ?? workload.units
    }

    /// Opens the database in the workload's start state.
    private func open() throws -> any BenchmarkSession {
        switch workload.start {
        case .empty(let table): return try subject.open(BenchmarkOpening(directory: folder, table: table))
        case .loaded(let table):
            let session = try subject.open(BenchmarkOpening(directory: folder, table: table))
            try load(session, settings.source(rows: rows, isIndexed: table.isIndexed))
            return session
        }
    }

    /// Writes all rows, reopens the database, and reads all rows, so that they come from the final files and are
    /// cached.
    private func load(_ session: any BenchmarkSession, _ source: RowSource) throws {
        let ids = (0..<rows).map { source.id($0) }
        var works: [Work] = [.upsert(try source.batches(0..<rows, of: settings.batch))]
        if subject.isPersistent { works.append(.reopen(times: 1, id: ids[0])) }
        works += [.scan(.view), .get(ids: ids, access: .view, transaction: .one)]
        for work in works { _ = try session.perform(work, noting: LatencySink()) }
    }
}
#else
internal import TidelineSupport

/// Prints the command that builds the program with its packages.
@main
enum InstructionProbe {
    static func main() { exitForMissingTrait("Commands") }
}
#endif
