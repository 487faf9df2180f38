/** Loaded before the program: its calendar is ahead by AHEAD_MS, as on a machine whose clock was set wrong. */

const ahead = Number(process.env['AHEAD_MS'] ?? 0)
const TrueDate = Date

globalThis.Date = class extends TrueDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(TrueDate.now() + ahead)
    else super(...(given as [number]))
  }
  static override now(): number {
    return TrueDate.now() + ahead
  }
} as DateConstructor
