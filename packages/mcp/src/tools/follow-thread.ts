import { pause } from '@agent-exchange/sdk/internal'
import { Type } from 'typebox'
import {
  readThreadPackages,
  threadPackage,
  type ThreadPackage,
  type ThreadPage,
} from '../content/thread-packages.ts'
import { FOLLOW_POLL_MS, MAXIMUM_FOLLOW_SECONDS } from '../mcp-limits.ts'
import { defineTool, READS } from '../server/tool.ts'
import { inputOf, threadIdText, timeText } from './common-schemas.ts'

export const followThread = defineTool({
  name: 'follow_thread',
  title: 'Follow a thread',
  verb: 'read',
  description:
    'Shows the packages of a thread with their states, in order of acceptance. With wait_seconds it waits until a package is new or has changed after `changed_after`. Pass the returned `last_change` as `changed_after` of the next call.',
  input: inputOf({
    thread_id: threadIdText,
    changed_after: Type.Optional(
      Type.String({ format: 'date-time', description: 'wait for a change after this time' }),
    ),
    wait_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAXIMUM_FOLLOW_SECONDS, description: 'longest wait (default 0)' }),
    ),
  }),
  output: Type.Object({
    thread_id: threadIdText,
    packages: Type.Array(threadPackage),
    changed: Type.Boolean({ description: 'whether something changed after `changed_after`' }),
    last_change: Type.Optional(timeText),
    truncated: Type.Boolean({
      description: 'true if the thread has newer packages that are not listed, or may have',
    }),
  }),
  annotations: READS,
  callsPerMinute: 30,
  async run({ thread_id, changed_after, wait_seconds = 0 }, { session, signal, progress }) {
    const since = changed_after === undefined ? Number.NEGATIVE_INFINITY : Date.parse(changed_after)
    const deadline = session.now().getTime() + wait_seconds * 1_000
    for (;;) {
      const page = await readThreadPackages(session.agent, thread_id, signal)
      const last = lastChange(page.packages)
      const changed = last !== undefined && Date.parse(last) > since
      if (changed || signal.aborted || session.now().getTime() >= deadline) {
        const structured = { thread_id, ...page, changed, ...(last !== undefined && { last_change: last }) }
        return {
          structured,
          text: [heading(page), ...page.packages.map(line)].join('\n'),
        }
      }
      progress('waiting for a change')
      await pause(FOLLOW_POLL_MS, signal)
    }
  },
})

function heading({ packages, truncated }: ThreadPage): string {
  return truncated
    ? `The first ${packages.length} packages. The thread has newer ones that are not listed.`
    : `${packages.length} packages.`
}

function lastChange(packages: readonly ThreadPackage[]): string | undefined {
  const times = packages.map(({ updated_at }) => updated_at)
  return times.toSorted((one, other) => Date.parse(one) - Date.parse(other)).at(-1)
}

function line({ package_id, state, from, to, responds_to }: ThreadPackage): string {
  const answers = responds_to === undefined ? '' : `, answers ${responds_to}`
  return `${package_id}: ${state}, from ${from.agent_id} to ${to.agent_id}${answers}`
}
