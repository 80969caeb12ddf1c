#if Tool
import ArgumentParser
import Foundation
import Testing
import TidelineSimulation

@testable import TidelineTool

@Suite("tideline simulate", .timeLimit(.minutes(15)))
struct SimulateCommandTests {
    let tool: Tool
    /// The folder of temporary files of the command.
    private let temporary: URL

    init() throws {
        tool = try Tool()
        temporary = tool.folder.appendingPathComponent("temporary")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
    }

    /// A schedule that fails: a server that chooses identifiers, which no client can synchronize with.
    private var failing: SimulationSchedule {
        SimulationSchedule(
            seed: 5, devices: 2, serverQuirks: ServerQuirks.makesIDs.rawValue, services: 2,
            steps: [
                SimulationStep(1, .wait(seconds: 1)),
                SimulationStep(2, .write(table: "Todo", id: "r1", columns: ["title"]), on: 0),
                SimulationStep(3, .push, on: 1, faults: [1: .requestLost]),
            ])
    }

    private func write(_ schedule: SimulationSchedule, _ name: String = "schedule.json") throws -> String {
        try JSONEncoder().encode(schedule).write(to: URL(fileURLWithPath: tool.path(name)))
        return tool.path(name)
    }

    private func schedule(_ name: String) throws -> SimulationSchedule {
        try JSONDecoder().decode(
            SimulationSchedule.self, from: try Data(contentsOf: URL(fileURLWithPath: tool.path(name))))
    }

    // MARK: Results

    @Test("Seeds without a violation exit with status 0, and the last line has the numbers")
    func success() throws {
        let output = try run(["--seeds", "1..4", "--jobs", "2", "--steps", "6"]).expect(0)
        #expect(output.err.isEmpty)
        let lines = output.out.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first == "Simulating seeds from 1 to 4.")
        #expect(lines.last?.hasPrefix("4 seeds, ") == true)
        #expect(lines.last?.hasSuffix(" steps/s per core); no violation") == true)
    }

    @Test(
        "Every store gives the same result, and its files are removed",
        arguments: StoreEngine.all.filter { $0.name != "memory" })
    func stores(engine: StoreEngine) throws {
        let options = ["--seeds", "3", "--steps", "8", "--json", "--store"]
        // A push over a store that processes share also takes and releases its lease.
        let other = ["sqlite": "lmdb", "lmdb": "sqlite"][engine.name] ?? "memory"
        let expected = try run(options + [other]).json(SimulationReport.self)
        let found = try run(options + [engine.name]).json(SimulationReport.self)
        #expect(found.seeds == 1)
        #expect(found.worldSteps == expected.worldSteps)
        #expect(try leftovers().isEmpty)
    }

    @Test("The options change the world")
    func options() throws {
        let saved = tool.path("schedule.json")
        let options = ["--devices", "2", "--steps", "30", "--rows", "1", "--faults", "none", "--save", saved]
        #expect(try run(["--seeds", "9"] + options).status == 0)
        let schedule = try schedule("schedule.json")
        #expect(schedule.seed == 9 && schedule.devices == 2 && schedule.steps.count == 30)
        #expect(schedule.steps.allSatisfy { $0.faults.isEmpty && $0.kill == nil && $0.cancel == nil })
        let counts = try (1...4).map { seed in
            let file = "services-\(seed).json"
            try run(["--seeds", "\(seed)", "--services", "8", "--save", tool.path(file)]).expect(0)
            return try self.schedule(file).services
        }
        #expect(counts.allSatisfy { (2...8).contains($0) } && Set(counts).count > 1, "\(counts)")
    }

    @Test("A seed gives the same timeline each time, and so does its schedule")
    func determinism() throws {
        let saved = tool.path("schedule.json")
        let runs = try [
            ["--seeds", "11", "--save", saved], ["--seeds", "11"], ["--seeds", "11", "--store", "lmdb"],
            ["--replay", saved],
        ].map { try run($0 + ["--timeline"]).expect(0).out.split(separator: "\n").dropFirst().dropLast() }
        #expect(runs[0].count > 24)
        #expect(Set(runs).count == 1)
    }

    @Test("With --minutes, further seeds are simulated until the time is over")
    func minutes() throws {
        let output = try run(["--seeds", "18446744073709551614", "--minutes", "1000", "--json"]).expect(0)
        // There are only two more seeds.
        #expect(try output.json(SimulationReport.self).seeds == 2)
        let short = try run(["--seeds", "1..2", "--minutes", "0.000001", "--json"])
        #expect(try short.json(SimulationReport.self).seeds <= 1)
    }

    // MARK: Violations

    @Test("A violation exits with status 1, is printed with a shorter schedule, and can be repeated")
    func violation() throws {
        let (file, saved) = (try write(failing), tool.path("tideline-simulation-5.json"))
        let output = try run(["--replay", file, "--save", saved, "--store", "memory"]).expect(1)
        #expect(output.out.contains("seed 5: the queue becomes empty: device 0 still has 1 operation: Todo r1"))
        #expect(output.out.contains("(1 of 3 steps are needed)"))
        #expect(output.out.contains("Repeat it with: tideline simulate --replay \(file) --store memory\n"))
        #expect(output.out.hasSuffix("; seed 5 violates an invariant\n"))
        #expect(
            output.err == "saved the schedule; repeat it with: tideline simulate --replay \(saved) --store memory\n")

        let shortened = try schedule("tideline-simulation-5.json")
        #expect(shortened.steps == [failing.steps[1]])
        #expect(shortened.devices == 1 && shortened.services == 1)
        let again = try run(["--replay", saved, "--json", "--store", "leveldb"]).expect(1)
        let report = try again.json(SimulationReport.self)
        #expect(report.failure?.seed == 5 && report.seeds == 0)
        #expect(report.failure?.schedule == shortened)
        #expect(report.failure?.violations.first?.invariant == "the queue becomes empty")
        #expect(report.failure?.timeline.isEmpty == false)
    }

    @Test("Of several violations at the same time, the one of the lowest seed is printed, with its command")
    func lowestSeed() async throws {
        let arguments = [
            "simulate", "--seeds", "1..40", "--steps", "5", "--faults", "network,kills", "--jobs", "4", "--store",
            "memory",
        ]
        let command = try #require(TidelineCommand.parseAsRoot(arguments) as? SimulateCommand)
        let change: @Sendable (inout SimulatedWorld) -> Void = { $0.servers = [[], [], [], .makesIDs] }
        let lowest = (1...40 as ClosedRange<UInt64>).first { seed in
            let simulation = Simulation(seed: seed) { world in
                command.configure(&world, seed: seed)
                change(&world)
            }
            return simulation.schedule.serverQuirks != 0 && simulation.schedule.steps.contains { $0.action.isWrite }
        }
        let seed = try #require(lowest)
        let capture = OutputCapture()
        let status = try await StandardOutput.$capture.withValue(capture) {
            try await SimulationSession(command, configure: change).run()
        }
        #expect(status == 1)
        #expect(capture.text.contains("\nseed \(seed): "), "\(capture.text.prefix(500))")
        #expect(
            capture.text.contains(
                "Repeat it with: tideline simulate --seeds \(seed) --steps 5 --faults network,kills --store memory\n"))
    }

    // MARK: Errors

    @Test(
        "An invalid command line exits with status 2 and the reason",
        arguments: [
            (["--seeds", "5..1"], "the first seed is greater than the last one"), (["--seeds", "1-5"], "1..1000"),
            (["--seeds", "1..2..3"], "1..1000"), (["--seeds", ""], "1..1000"), (["--seeds", "-1"], "--seeds"),
            (["--seeds", "18446744073709551616"], "from 0 to 18446744073709551615"),
            (["--devices", "0"], "--devices must be a number from 1 to 64, not 0."),
            (["--devices", "65"], "--devices"),
            (["--services", "9"], "--services must be a number from 1 to 8, not 9."),
            (["--steps", "-1"], "--steps"), (["--steps", "100001"], "--steps must be a number from 0 to 100000"),
            (["--rows", "0"], "--rows must be a number from 1 to 1000"), (["--jobs", "0"], "--jobs"),
            (["--jobs", "257"], "--jobs"), (["--minutes", "0"], "--minutes must be more than 0"),
            (["--minutes", "nan"], "--minutes"), (["--minutes", "x"], "--minutes"),
            (["--faults", "netwrk"], "Did you mean \"network\"?"), (["--faults", ""], "there is no fault \"\""),
            (["--faults", "all,none"], "there is no fault \"all\""), (["--faults", "clocks,"], "there is no fault"),
            (["--store", "sqlit"], "Did you mean \"sqlite\"?"), (["--store", "sqlite,lmdb"], "use one store"),
            (["--store", ""], "use one store"), (["--store", "sqlite:todo.db"], "remove the path"),
            (["--store", "sqlite,durability=some"], "full or normal"),
            (["--store", "sqlite,read-only=yes"], "no setting \"read-only\""),
            (["--timeline"], "--timeline needs a single seed"),
            (["--seeds", "1", "--minutes", "1", "--timeline"], "--timeline needs a single seed"),
            (["--save", "-"], "--save needs a file"), (["--save", "/nowhere/a.json"], "cannot be written"),
            (["--replay", "/nowhere/a.json"], "/nowhere/a.json cannot be read: No such file"),
            (["--replay", "/"], "/ cannot be read"), (["--replay", "-"], "standard input is not a schedule"),
            (["--replay", "-", "--seeds", "1"], "--seeds cannot be combined with --replay"),
            (["--replay", "-", "--faults", "none"], "--faults cannot be combined with --replay"),
            (["--nonsense"], "--nonsense"), (["extra"], "extra"),
        ])
    func usage(arguments: [String], reason: String) throws {
        let output = try run(arguments).expect(2, reason)
        #expect(output.out.isEmpty || arguments.contains("--replay"))
    }

    @Test("--faults can name every kind of fault")
    func faultNames() throws {
        #expect(try FaultList(parsing: FaultList.names.joined(separator: ",")).faults == .all)
    }

    private static func text(step: String) -> String {
        #"{"seed": 1, "devices": 1, "serverQuirks": 0, "services": 1, "steps": [{"number": 1, \#(step)}]}"#
    }

    @Test(
        "A file that is not a schedule exits with status 2, and the message names the file and the place",
        arguments: [
            ("", "The given data was not valid JSON."), ("[]", "Expected to decode"), ("{}", "there is no"),
            (text(step: #""faults": {}"#), "there is no steps[0].action"),
            (text(step: #""faults": {"x": {}}, "action": {"push": {}}, "device": 0"#), "steps[0].faults"),
            (text(step: #""faults": {}, "action": {"fly": {}}, "device": 0"#), "steps[0].action"),
        ])
    func unreadable(text: String, reason: String) throws {
        let file = try tool.write(text, to: "a.json")
        try run(["--replay", file]).expect(2, "--replay: \(file) is not a schedule: ", reason)
    }

    @Test("A schedule that cannot be simulated exits with status 2 and names the file")
    func unplayable() throws {
        var schedule = failing
        schedule.steps[1].device = 2
        let file = try write(schedule)
        try run(["--replay", file]).expect(2, "--replay: \(file) cannot be simulated: step 2: device is 2; use 0 to 1")
    }

    // MARK: Interruption

    @Test(
        "Ctrl-C and SIGTERM end the run with status 130, tell its numbers, and remove the files",
        arguments: [SIGINT, SIGTERM])
    func interruption(signal: Int32) throws {
        let process = try ToolProcess(
            arguments(["--minutes", "5", "--store", "sqlite"]), keepsErrors: true, executable: Self.environment)
        defer { process.stop() }
        #expect(process.readLine() == "Simulating seeds from 1 for 5 min.")
        process.signal(signal)
        #expect(process.wait() == 130)
        let errors = process.errors()
        #expect(errors.hasPrefix("interrupted: ") && errors.contains("; no violation"), "\(errors)")
        #expect(try leftovers().isEmpty)
    }

    // MARK: Helpers

    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    private func run(_ arguments: [String]) throws -> ToolProcess.Output {
        try ToolProcess.run(self.arguments(arguments), executable: Self.environment)
    }

    private func arguments(_ arguments: [String]) -> [String] {
        ["TMPDIR=\(temporary.path)", tool.executable.path, "simulate"] + arguments
    }

    private func leftovers() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary.path) }
}

extension SimulationStep.Action {
    fileprivate var isWrite: Bool {
        if case .write = self { true } else { false }
    }
}
#endif
