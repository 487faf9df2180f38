import type { SplitView } from '@agent-exchange/log'

/** What an agent remembers of the log of its exchange. */
export interface LogState {
  /** The vkeys that were pinned at the first contact, and those of later rotations. */
  readonly keys: readonly string[]
  /** The newest checkpoint that was seen, verbatim. */
  readonly checkpoint: string
}

/** Keeps the state of the log between two runs. */
export interface LogStateStore {
  read(): Promise<LogState | undefined>
  /** Replaces the state only if it is still the given one; false where it changed meanwhile. */
  replace(expected: LogState | undefined, next: LogState): Promise<boolean>
  /** Keeps proof of a split view for ever; the result says where it is. */
  keepSplitView(view: SplitView): Promise<string>
}

/** Forgets with the process, which makes every start a first contact. */
export function createMemoryLogState(): LogStateStore & { readonly splitViews: readonly SplitView[] } {
  let state: LogState | undefined
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
  }
}
