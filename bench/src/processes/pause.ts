import { signalTree } from './tree.ts'

/** A process that can be paused, because a restarted process would be slow at first. */
export interface Pausable extends AsyncDisposable {
  readonly pid: number
  pause(): void
  resume(): void
}

export function pausable(process: AsyncDisposable & { readonly pid: number }): Pausable {
  const resume = () => signalTree(process.pid, 'SIGCONT')
  return {
    pid: process.pid,
    pause: () => signalTree(process.pid, 'SIGSTOP'),
    resume,
    [Symbol.asyncDispose]: () => {
      // A paused process does not end.
      resume()
      return process[Symbol.asyncDispose]()
    },
  }
}
