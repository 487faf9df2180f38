import { startDesk } from '@agent-exchange/desk'
import type { Demo } from './run-demo.ts'

/** Desks at which both companies read the story, while the demo is left running. */
export interface StoryDesks extends AsyncDisposable {
  /** One-time links to the story. */
  readonly links: { readonly manufacturer: string; readonly supplier: string }
}

export async function openStoryDesks({ agents, story }: Pick<Demo, 'agents' | 'story'>): Promise<StoryDesks> {
  await using stack = new AsyncDisposableStack()
  const manufacturer = stack.use(await startDesk(agents.manufacturer, { port: 0 }))
  const supplier = stack.use(await startDesk(agents.supplier, { port: 0 }))
  const open = stack.move()
  return {
    links: { manufacturer: manufacturer.newLink(story.threadId), supplier: supplier.newLink(story.threadId) },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
