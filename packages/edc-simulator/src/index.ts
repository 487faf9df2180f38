/** A simulated data space for tests and demonstrations: EDC's management API v3 over real HTTP, without Java. */
export { MovableClock, realTime } from './clock.ts'
export type { SimulatorClock } from './clock.ts'
export type { ByteFault, Faults } from './faults.ts'
export { startSimulator } from './simulator.ts'
export type { SimulatedParticipant, Simulator, SimulatorOptions } from './simulator.ts'
