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
  const link = await supplierLink(agents.supplier, story.threadId, stack)
  const open = stack.move()
  return {
    links: { manufacturer: manufacturer.newLink(story.threadId), supplier: link },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** A gateway has a desk for people of its company; a folder gets one. */
async function supplierLink(
  supplier: Demo['agents']['supplier'],
  threadId: string,
  cleanup: AsyncDisposableStack,
): Promise<string> {
  if (!('folder' in supplier)) return supplier.deskLink()
  return cleanup.use(await startDesk(supplier, { port: 0 })).newLink(threadId)
}
