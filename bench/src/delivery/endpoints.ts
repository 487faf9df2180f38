import type { Organization } from '@agent-exchange/testkit'

/** Registers webhook endpoints of an organization for all events. */
export async function registerEndpoints(owner: Organization, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const answer = await owner.post('/v1/webhook-endpoints', { url, event_types: [] })
    if (answer.status !== 201) throw new Error(answer.text)
  }
}
