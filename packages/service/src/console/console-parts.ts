import { badge, html, visible, type Field, type Html, type Tone } from '@agent-exchange/web'

const MAXIMUM_REASON_CHARACTERS = 1_000

export const REASON: Field = {
  kind: 'text',
  name: 'reason',
  label: 'Reason',
  maxLength: MAXIMUM_REASON_CHARACTERS,
  isRequired: true,
  hint: 'For the operator log.',
}
export const OPTIONAL_REASON: Field = { ...REASON, isRequired: false }

/** Text that an organization or an agent chose. Its direction does not affect its neighbours. */
export function outsideText(text: string): Html {
  return html`<bdi>${visible(text)}</bdi>`
}

/** A command to paste. */
export function commandLine(command: string): Html {
  return html`<div class="copy command">
    <pre tabindex="0">${command}</pre>
    <button type="button" data-copy="${command}" aria-label="Copy the command" hidden>Copy</button>
  </div>`
}

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  accepted: 'good',
  approved: 'good',
  certified: 'good',
  open: 'info',
  used: 'good',
  sent: 'good',
  running: 'good',
  pending: 'info',
  waiting: 'info',
  blocked: 'warn',
  suspended: 'warn',
  paused: 'warn',
  retiring: 'warn',
  expired: 'warn',
  behind: 'warn',
  removing: 'warn',
  failed: 'bad',
  refusing: 'bad',
  revoked: 'bad',
  ended: 'bad',
}

/** A status of the API; one that we do not know is neutral. */
export function statusBadge(status: string): Html {
  return badge(Object.hasOwn(TONES, status) ? (TONES[status] ?? 'neutral') : 'neutral', visible(status))
}

/** A path whose parts are ids. */
export function pathTo(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}
