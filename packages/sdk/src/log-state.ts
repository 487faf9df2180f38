import type { SplitView } from '@agent-exchange/log'

/** What an agent remembers of the log of its exchange. */
export interface LogState {
  /** The vkeys that were pinned at the first contact, and those of later rotations. */
  readonly keys: readonly string[]
  /** The newest checkpoint that was seen, verbatim. */
  readonly checkpoint: string
}

/** A checkpoint that a key of the log signed, and of which no proof shows yet that it continues the last one. */
export interface UnprovedCheckpoint {
  /** The signed note, verbatim. */
  readonly note: string
  readonly since: string
  /** Contacts that did not bring the proof. */
  readonly failures: number
  /** Where it is kept as a split view, once it was reported. */
  readonly file?: string
}

/** Why the log could not be checked since the last contact that succeeded. */
export interface LogTrouble {
  /** When the first contact failed. */
  readonly since: string
  /** Of the last failure. */
  readonly reason: string
  readonly unproved?: UnprovedCheckpoint
}

/** Keeps the state of the log between two runs. */
export interface LogStateStore {
  read(): Promise<LogState | undefined>
  /** Replaces the state only if it is still the given one; false where it changed meanwhile. */
  replace(expected: LogState | undefined, next: LogState): Promise<boolean>
  /** Keeps proof of a split view for ever; the result says where it is. */
  keepSplitView(view: SplitView): Promise<string>
  readTrouble(): Promise<LogTrouble | undefined>
  /** Undefined once a contact succeeded. */
  writeTrouble(trouble: LogTrouble | undefined): Promise<void>
}

/** Forgets with the process, which makes every start a first contact. */
export function createMemoryLogState(): LogStateStore & { readonly splitViews: readonly SplitView[] } {
  let state: LogState | undefined
  let trouble: LogTrouble | undefined
  const splitViews: SplitView[] = []
  return {
    splitViews,
    read: () => Promise.resolve(state),
    replace(expected, next) {
      if (state?.checkpoint !== expected?.checkpoint) return Promise.resolve(false)
      state = next
      return Promise.resolve(true)
    },
    keepSplitView(view) {
      splitViews.push(view)
      return Promise.resolve('memory')
    },
    readTrouble: () => Promise.resolve(trouble),
    writeTrouble(next) {
      trouble = next
      return Promise.resolve()
    },
  }
}
