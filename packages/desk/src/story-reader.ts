import { threadStory, type ThreadObjects, type ThreadStory } from '@agent-exchange/sdk'
import { readThreadObjects } from '@agent-exchange/sdk/internal'
import type { PackageResource } from '@agent-exchange/protocol'
import type { DeskAgent } from './desk-agent.ts'
import { REMEMBERED_OBJECTS } from './desk-limits.ts'
import { createThreadVerdicts, type ThreadVerdicts } from './thread-verdicts.ts'

export interface ReadStory {
  readonly story: ThreadStory
  /** What the story is told from. */
  readonly thread: ThreadObjects
  readonly resources: readonly PackageResource[]
}

/** Reads stories of threads. Opened objects stay in memory, so that a page opens only what is new. */
export interface StoryReader {
  read(threadId: string, now: Date): Promise<ReadStory>
  readonly verdicts: ThreadVerdicts
}

export function createStoryReader(agent: DeskAgent): StoryReader {
  const reader = {
    identity: agent.identity,
    thread: (threadId: string, options: Parameters<DeskAgent['thread']>[1]) =>
      agent.thread(threadId, options),
    open: (packageId: string) => agent.read(packageId),
  }
  const opened = new Map<string, unknown>()
  const remembered = {
    get: (packageId: string) => opened.get(packageId),
    set: (packageId: string, object: unknown) => {
      const [oldest] = opened.keys()
      if (opened.size >= REMEMBERED_OBJECTS && oldest !== undefined) opened.delete(oldest)
      opened.set(packageId, object)
    },
  }
  return {
    verdicts: createThreadVerdicts(agent),
    async read(threadId, now) {
      const { resources, ...thread } = await readThreadObjects(reader, threadId, remembered)
      return { story: threadStory(thread, now), thread, resources }
    },
  }
}
