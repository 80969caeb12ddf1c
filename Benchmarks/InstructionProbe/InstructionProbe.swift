private import CMeasured
private import Foundation
private import TidelineBenchmark

/// Does one work on one subject for who counts its instructions: see `Benchmarks/instructions`.
///
///     InstructionProbe list                                 every pair of subject and work there is, one a line
///     InstructionProbe versions                             what the counts depend on beside the code
///     InstructionProbe SUBJECT WORK ROWS FOLDER             does the work, and prints by how many units the count is divided
///
/// `main` is synchronous and the work is done on its thread: valgrind does not take that the main thread ends before the
/// others, which is how an asynchronous `main` runs on Linux.
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
        default:
            guard words.count == 4, let subject = ProbeSubject.all.first(where: { $0.id == words[0] }),
                let work = CountedWork.all.first(where: { $0.id == words[1] && subject.does($0) }),
                let rows = Int(words[2]), rows >= 100
            else { usage() }
            print(try measure(work, by: subject, rows: rows, folder: words[3]))
        }
    }

    /// Does the work twice, each time on a database of its own: what is made only once in a process, such as the metadata
    /// of a type, is made by the first, which is not counted.
    private static func measure(
        _ work: CountedWork, by subject: ProbeSubject, rows: Int, folder: String
    ) throws -> Int {
        _ = try ProbeRun(work, by: subject, rows: 100, folder: folder + "/first").run { $0() }
        return try ProbeRun(work, by: subject, rows: rows, folder: folder + "/count").run(counted)
    }

    /// Does the work inside the function that the counter goes by.
    private static func counted(_ body: () -> Void) {
        withoutActuallyEscaping(body) { body in
            var body = body
            withUnsafeMutablePointer(to: &body) { pointer in
                tideline_measure({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
            }
        }
    }

    private static func usage() -> Never {
        FileHandle.standardError.write(
            Data("usage: InstructionProbe list | versions | SUBJECT WORK ROWS FOLDER\n".utf8))
        exit(64)
    }
}
