import { verdictSentence } from '@agent-exchange/log'
import type { Demo } from './run-demo.ts'
import type { StoryDesks } from './story-desks.ts'

export interface DocumentOptions {
  /** Links to the story at both desks. The exchange stays up then, so its addresses are of use. */
  readonly links?: StoryDesks['links']
  readonly report?: string
}

/** What `npm run demo -- --json` prints. */
export function demoDocument(demo: Demo, { links, report }: DocumentOptions) {
  const { outcome, story, exchange, agents } = demo
  const { word, contradictions } = outcome.evidence
  return {
    transport: outcome.transport,
    thread_id: story.threadId,
    package_ids: story.packageIds,
    counts: outcome.counts,
    evidence: { word, summary: verdictSentence(outcome.evidence), failed_checks: contradictions },
    plaintext_search: outcome.search,
    ...(report !== undefined && { report }),
    ...(links && {
      story_links: links,
      agent_api: exchange.url,
      operator_api: exchange.operatorUrl,
      operator_token: exchange.operatorToken,
      agent_folders: {
        manufacturer: agents.manufacturer.folder.folder,
        ...('folder' in agents.supplier && { supplier: agents.supplier.folder.folder }),
      },
    }),
  }
}
