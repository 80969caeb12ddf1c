internal import Foundation
internal import TidelineCommandSupport
internal import TidelineConformance

/// The processes that the command starts of itself: a worker, which runs checks, and the second process of checks that
/// kill one or share files with one.
struct HiddenProcess {
    let options: ConformanceOptions
    let stores: ConformanceStores
    let program: ConformanceProgram

    /// Does what such a process does; nil when this is none.
    func run() async throws -> Int32? {
        guard options.worker != nil || options.child else { return nil }
        let names = Set(stores.harnesses.compactMap(\.name))
        guard let word = try StoreWord.words(options.stores, names: names).first else {
            return ConformanceCommand.usageStatus
        }
        let harness = try stores.store(word).completed(by: program, word)
        if let path = options.worker {
            guard let folder = TrialFolder(named: path) else { return ConformanceCommand.usageStatus }
            await WorkerMain(harness: harness, folder: folder).run()
        }
        return ConformanceChild.run(arguments: options.rest, harness: harness) ?? ConformanceCommand.usageStatus
    }
}

extension StoreHarness {
    /// This harness; one that has no second process has this very program for it.
    func completed(by program: ConformanceProgram, _ word: StoreWord) -> StoreHarness {
        guard process == nil else { return self }
        var harness = self
        harness.process = StoreProcess(
            executable: program.executable, arguments: program.arguments + ["--store", word.text, "--child", "--"])
        return harness
    }
}

/// A worker from inside.
struct WorkerMain {
    let harness: StoreHarness
    /// The folder for its temporary files, which it makes and removes.
    let folder: TrialFolder

    /// Runs the checks that standard input asks for, tells of each on standard output, and ends the process.
    func run() async -> Never {
        // The command ignores these signals and its processes inherit that; the suite's own may count on them.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        // A command that is gone ends the worker by the end of its input, not by the next message.
        signal(SIGPIPE, SIG_IGN)
        // What a store prints must not come between the messages.
        let channel = FileHandle(fileDescriptor: fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
        dup2(STDERR_FILENO, STDOUT_FILENO)
        guard let line = readLine(), let task = try? JSONDecoder().decode(WorkerTask.self, from: Data(line.utf8)) else {
            _exit(ConformanceCommand.usageStatus)
        }
        do { try folder.make() } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            _exit(1)
        }
        endWithInput()
        let suite = ConformanceSuite(harness, settings: task.settings)
        suite.timeOuts.add(task.timeOuts)
        await SameProcessExecutor().run(task.checks.compactMap(Check.named), of: suite) { kind in
            guard let message = WorkerMessage(kind), let line = try? JSONEncoder().encode(message) else { return }
            try? channel.write(contentsOf: line + Data("\n".utf8))
        }
        folder.remove()
        // Not by way of what libraries do when a process ends: a check that hung may still be within one.
        _exit(0)
    }

    /// Ends the process when the command that started it is gone.
    private func endWithInput() {
        Thread.detachNewThread {
            while readLine() != nil {}
            removeFolderAfterExit()
            _exit(0)
        }
    }

    /// Leaves the removal of the temporary files to another process, which begins when this one has ended: a check that
    /// is still at work can add files until then.
    private func removeFolderAfterExit() {
        let remover = Process()
        remover.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The read ends with this process, which holds the other end of the pipe.
        remover.arguments = ["-c", "read -r _; chmod -R u+rwx \"$0\"; rm -rf \"$0\"", folder.path]
        remover.standardInput = Pipe()
        remover.standardOutput = FileHandle.nullDevice
        remover.standardError = FileHandle.nullDevice
        do { try remover.run() } catch { folder.remove() }
    }
}

extension WorkerMessage {
    /// What a worker tells of an event.
    fileprivate init?(_ kind: ConformanceEvent.Kind) {
        switch kind {
        case .declared(let capabilities): self = .declared(capabilities)
        case .checkBegan(let check): self = .began(check.id)
        case .checkEnded(let result): self = .ended(result)
        case .storeBegan, .storeEnded: return nil
        }
    }
}
