#if Commands
internal import Foundation
internal import TidelineSupport

/// The command's internal processes: a worker, which runs checks, and the second process of checks.
struct HiddenProcess {
    let options: ConformanceOptions
    let stores: ConformanceStores
    let program: ConformanceProgram

    /// Runs the work of such a process, or returns `nil` if this process is not one of them.
    func run() async throws -> Int32? {
        guard options.worker != nil || options.child else { return nil }
        let names = Set(stores.names)
        guard let word = try StoreWord.words(options.stores, names: names).first else {
            return ExitStatus.usage
        }
        let harness = try stores.store(word).completed(by: program, word)
        if let path = options.worker {
            guard let folder = CheckFolder(named: path) else { return ExitStatus.usage }
            await WorkerMain(harness: harness, folder: folder).run()
        }
        return ConformanceChild.run(arguments: options.rest, harness: harness) ?? ExitStatus.usage
    }
}

extension StoreHarness {
    /// Returns this harness; if it has no second process, this program is used.
    func completed(by program: ConformanceProgram, _ word: StoreWord) -> StoreHarness {
        guard process == nil else { return self }
        var harness = self
        harness.process = StoreProcess(
            executable: program.executable, arguments: program.arguments + ["--store", word.text, "--child", "--"])
        return harness
    }
}

/// The main program of a worker process.
struct WorkerMain {
    let harness: StoreHarness
    /// The directory for its temporary files, which it creates and removes.
    let folder: CheckFolder

    /// Runs the checks requested on standard input, reports each on standard output, and exits.
    func run() async -> Never {
        // The command ignores these signals, which its child processes inherit; those of the suite may need them.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        // If the command is gone, the end of the input ends the worker, without waiting for the next message.
        signal(SIGPIPE, SIG_IGN)
        // Output of a store must not be mixed with the messages.
        let channel = FileHandle(fileDescriptor: fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
        dup2(STDERR_FILENO, STDOUT_FILENO)
        guard let line = readLine(), let task = try? JSONDecoder().decode(WorkerTask.self, from: Data(line.utf8)) else {
            _exit(ExitStatus.usage)
        }
        do { try folder.make() } catch {
            Output.note("\(error)")
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
        // Exit without the libraries' exit handlers, because a hung check may still be running library code.
        _exit(0)
    }

    /// Exits when the command that started this process is gone.
    private func endWithInput() {
        Thread.detachNewThread {
            while readLine() != nil {}
            removeFolderAfterExit()
            _exit(0)
        }
    }

    /// Leaves the removal of temporary files to a process that begins after this one, whose checks may still add files.
    private func removeFolderAfterExit() {
        let remover = Process()
        remover.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The read ends with this process, which holds the other end of the pipe.
        remover.arguments = ["-c", "read -r _; chmod -R u+rwx \"$0\"; rm -rf \"$0\"", folder.path]
        remover.standardInput = Pipe.uninherited()
        remover.standardOutput = FileHandle.nullDevice
        remover.standardError = FileHandle.nullDevice
        do { try remover.run() } catch { folder.remove() }
    }
}

extension WorkerMessage {
    /// Creates the message for an event.
    fileprivate init?(_ kind: ConformanceEvent.Kind) {
        switch kind {
        case .declared(let capabilities): self = .declared(capabilities)
        case .checkBegan(let check): self = .began(check.id)
        case .checkEnded(let result): self = .ended(result)
        case .storeBegan, .storeEnded: return nil
        }
    }
}
#endif
