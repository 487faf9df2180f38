import type { DemoExchange } from './demo-exchange.ts'
import type { Outcome } from './report.ts'
import type { StoryDriver } from './story.ts'
import type { Timeline } from './timeline.ts'

export type Transport = 'native' | 'ds_x'

/** What a performance works with. */
export interface Stage {
  readonly timeline: Timeline
  readonly now: () => Date
  /** Shown while something takes seconds; undefined ends it. */
  readonly onWait?: (what: string | undefined) => void
  readonly exchange: DemoExchange
  readonly folder: string
  /** Everything that must end with the demo. */
  readonly cleanup: AsyncDisposableStack
}

export interface Performance {
  readonly driver: StoryDriver
  /** What only this kind of demo counts, after the story. */
  readonly counts: () => Outcome['counts']
  /** A new one-time link to the desk, if one is open. */
  readonly deskLink?: () => string
}
