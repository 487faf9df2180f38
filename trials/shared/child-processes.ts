import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Kills the child if this process exits first. */
export function endsWithUs<T extends ChildProcess>(child: T): T {
  running.add(child)
  for (const event of ['exit', 'error'] as const) child.once(event, () => running.delete(child))
  return child
}
