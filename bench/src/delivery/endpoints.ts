import type { Organization } from '@agent-exchange/testkit'

/** Registers webhook endpoints of an organization for the event that a new package causes. */
export async function registerEndpoints(owner: Organization, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const answer = await owner.post('/v1/webhook-endpoints', { url, event_types: ['package.accepted'] })
    if (answer.status !== 201) throw new Error(answer.text)
  }
}
