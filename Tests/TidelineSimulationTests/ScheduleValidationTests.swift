import Testing
import TidelineSimulation

/// Schedules from files, which can contain anything.
@Suite("Schedule validation")
struct ScheduleValidationTests {
    private func message(_ schedule: SimulationSchedule) async -> String {
        let error = await #expect(throws: SimulationError.self) { try await Simulation(schedule).run() }
        return error?.description ?? ""
    }

    @Test(
        "A number out of range is refused",
        arguments: [
            (0, 0, 1, "devices is 0; use 1 to 64"), (65, 0, 1, "devices"), (-1, 0, 1, "devices"),
            (.min, 0, 1, "devices"), (1, 0, 0, "services is 0; use 1 to 8"), (1, 0, 9, "services"),
            (1, -1, 1, "serverQuirks is -1"), (1, 1 << 20, 1, "serverQuirks"),
        ] as [(Int, Int, Int, String)])
    func schedules(devices: Int, quirks: Int, services: Int, reason: String) async {
        let schedule = SimulationSchedule(
            seed: 1, devices: devices, serverQuirks: quirks, services: services, steps: [])
        #expect(await message(schedule).hasPrefix(reason))
    }

    @Test(
        "A step that the world cannot perform is refused with its number",
        arguments: [
            (SimulationStep(-1, .push, on: 0), "number is -1"), (SimulationStep(.max, .push, on: 0), "number is"),
            (SimulationStep(3, .push, on: 2), "device is 2; use 0 to 1"), (SimulationStep(3, .push, on: -1), "device"),
            (SimulationStep(3, .push), "the action needs a device"),
            (SimulationStep(3, .serverRestart, on: 0), "an action of the server has no device"),
            (SimulationStep(3, .push, on: 0, overlap: -1), "overlap is -1"),
            (SimulationStep(3, .push, on: 0, kill: 0), "kill is 0"),
            (SimulationStep(3, .push, on: 0, kill: .min), "kill is"),
            (SimulationStep(3, .push, on: 0, cancel: .max), "cancel is"),
            (SimulationStep(3, .purge(table: "Todos"), on: 0), "the world has no table \"Todos\""),
            (SimulationStep(3, .serverDelete(table: "", id: "r1")), "the world has no table \"\""),
            (SimulationStep(3, .pull(table: "Todo", queryID: "", isFiltered: false), on: 0), "the id \"\""),
            (SimulationStep(3, .delete(table: "Todo", id: "a/b"), on: 0), "the id \"a/b\""),
            (SimulationStep(3, .serverWrite(table: "Todo", id: "?")), "the id \"?\""),
            (SimulationStep(3, .write(table: "Todo", id: "r1", columns: ["titel"]), on: 0), "has no column \"titel\""),
            (SimulationStep(3, .custom(name: "sync"), on: 0), "the world has no action \"sync\""),
            (SimulationStep(3, .wait(seconds: .max)), "seconds is"), (SimulationStep(3, .wait(seconds: -1)), "seconds"),
            (SimulationStep(3, .setClock(seconds: .min), on: 0), "seconds is"),
            (SimulationStep(3, .setServerClock(seconds: .max)), "seconds is"),
            (SimulationStep(3, .push, on: 0, faults: [0: .doubled]), "the request of a fault is 0"),
            (SimulationStep(3, .push, on: 0, faults: [1: .late(steps: .max)]), "the steps of a late request"),
            (
                SimulationStep(3, .push, on: 0, faults: [1: .status(code: 1000, processed: true)]),
                "the code of a status"
            ),
            (SimulationStep(3, .push, on: 0, faults: [1: .lateCommit(milliseconds: .max)]), "the milliseconds"),
            (SimulationStep(3, .push, on: 0, faults: [1: .serverCrash(call: .min)]), "the call of a crash"),
        ])
    func steps(step: SimulationStep, reason: String) async {
        let message = await message(SimulationSchedule(seed: 1, devices: 2, steps: [step]))
        #expect(message.hasPrefix("step \(step.number): ") && message.contains(reason), "\(message)")
    }

    @Test("Two steps with one number are refused, because they would write the same values")
    func repeatedNumber() async {
        let schedule = SimulationSchedule(
            seed: 1, devices: 1, steps: [SimulationStep(4, .push, on: 0), SimulationStep(4, .update, on: 0)])
        #expect(await message(schedule) == "step 4: another step has the same number")
    }

    @Test("A step is printed as the Swift expression of it")
    func expressions() {
        let actions: [(SimulationStep.Action, String)] = [
            (.push, "push"), (.sync(seconds: -1), "sync(seconds: -1)"), (.purge(table: "T"), #"purge(table: "T")"#),
            (.write(table: "\"", id: "a", columns: ["é"]), #"write(table: "\"", id: "a", columns: ["é"])"#),
            (.pull(table: "T", queryID: nil, isFiltered: true), #"pull(table: "T", queryID: nil, isFiltered: true)"#),
            (.pull(table: "T", queryID: "", isFiltered: false), #"pull(table: "T", queryID: "", isFiltered: false)"#),
            (.intermediary(.repeats, seconds: 1), "intermediary(.repeats, seconds: 1)"),
        ]
        for (action, text) in actions {
            #expect(SimulationStep(7, action, on: 0).description == "SimulationStep(7, .\(text), on: 0)")
        }
    }

    @Test("The greatest numbers can be simulated")
    func limits() async throws {
        let most = 1_000_000
        try await Simulation(
            SimulationSchedule(
                seed: .max, devices: 64, services: 2,
                steps: [
                    SimulationStep(most, .wait(seconds: most)),
                    SimulationStep(0, .setServerClock(seconds: most)),
                    SimulationStep(1, .setClock(seconds: -most), on: 63),
                    SimulationStep(2, .write(table: "Todo", id: "r-1_A", columns: []), on: 63),
                    SimulationStep(
                        3, .push, on: 0, overlap: most, faults: [most: .doubled, 1: .late(steps: most)], kill: most,
                        cancel: most),
                ])
        ).run()
    }
}
