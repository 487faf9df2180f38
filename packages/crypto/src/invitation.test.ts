import { test } from 'node:test'
import { encodeBase64url } from './base64.ts'
import { formatInvitation, isInvitationSecret, parseInvitation, type Invitation } from './invitation.ts'

const invitation: Invitation = {
  baseUrl: 'https://exchange.example',
  organizationId: 'org_acme',
  agentId: 'agent_planner',
  expiresAt: '2026-03-03T08:00:00.000Z',
  secret: encodeBase64url(new Uint8Array(32).fill(7)),
}

test('an invitation is one word that holds address, organization, agent, expiry and secret', (t) => {
  const text = formatInvitation(invitation)
  t.assert.match(text, /^aexinv_[A-Za-z0-9_-]+$/)
  t.assert.deepEqual(parseInvitation(text), invitation)
  const { agentId: _, ...open } = invitation
  t.assert.deepEqual(parseInvitation(formatInvitation(open)), open)
})

test('a text that is not a whole invitation is not read as one', (t) => {
  const text = formatInvitation(invitation)
  for (const wrong of [
    '',
    'aexinv_',
    text.slice(0, -8),
    text.slice(1),
    `${text} `,
    `${text}\n`,
    'x'.repeat(10_000),
  ])
    t.assert.equal(parseInvitation(wrong), undefined)
  const changes: object[] = [
    { v: 2 },
    { base_url: 'exchange' },
    { organization_id: 'acme' },
    { agent_id: 'planner' },
    { expires_at: 'tomorrow' },
    { secret: 'short' },
  ]
  for (const change of changes) {
    const members = {
      v: 1,
      base_url: 'https://a.example',
      organization_id: 'org_a',
      expires_at: invitation.expiresAt,
    }
    const changed = JSON.stringify({ ...members, secret: invitation.secret, ...change })
    t.assert.equal(parseInvitation(`aexinv_${encodeBase64url(new TextEncoder().encode(changed))}`), undefined)
  }
})

test('a secret has exactly 256 bits', (t) => {
  t.assert.equal(isInvitationSecret(invitation.secret), true)
  for (const wrong of [
    undefined,
    7,
    '',
    encodeBase64url(new Uint8Array(31)),
    encodeBase64url(new Uint8Array(33)),
  ])
    t.assert.equal(isInvitationSecret(wrong), false)
})
