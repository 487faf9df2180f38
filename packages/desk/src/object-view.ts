import type { ProtocolObject } from '@agent-exchange/protocol'
import {
  inReadingOrder,
  labelOf as plainLabelOf,
  leadOf,
  outlineOf,
  type Member,
} from '@agent-exchange/sdk/internal'
import { html, visible, type Html } from '@agent-exchange/web'
import { MAXIMUM_SHOWN_DEPTH } from './desk-limits.ts'
import { OBJECT_TEXTS } from './texts/story-texts.ts'

/** An object for people. Every member is shown, unknown ones too, and every value is text. */
export function objectView(object: ProtocolObject): Html {
  const { content, technical } = outlineOf(object)
  return html`<p class="lead">${textOf(leadOf(object))}</p>
    ${memberList(content, 0)}
    <details>
      <summary>${OBJECT_TEXTS.technical}</summary>
      ${memberList(technical, 0)}
    </details>`
}

/** JSON as it is, with invisible characters spelled out. Lines keep their order in every script. */
export function rawView(summary: string, value: unknown): Html {
  return html`<details>
    <summary>${summary}</summary>
    <pre tabindex="0"><bdi>${shownLines(JSON.stringify(value, undefined, 2))}</bdi></pre>
  </details>`
}

export function shownLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

function memberList(members: readonly Member[], depth: number): Html {
  return html`<dl class="members">
    ${members.map(
      ([name, value]) =>
        html`<dt>${labelOf(name)}</dt>
          <dd>${valueView(value, depth + 1)}</dd>`,
    )}
  </dl>`
}

function valueView(value: unknown, depth: number): Html {
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'boolean') return html`${value ? OBJECT_TEXTS.yes : OBJECT_TEXTS.no}`
  if (typeof value !== 'object' || value === null) return html`${String(value)}`
  if (depth > MAXIMUM_SHOWN_DEPTH)
    return html`<pre tabindex="0"><bdi>${shownLines(JSON.stringify(value, undefined, 2))}</bdi></pre>`
  const members = Object.entries(value as Record<string, unknown>)
  if (members.length === 0) return html`<span class="quiet">${OBJECT_TEXTS.none}</span>`
  if (!Array.isArray(value)) return memberList(inReadingOrder(members), depth)
  return html`<ul>
    ${members.map(([, item]) => html`<li>${valueView(item, depth + 1)}</li>`)}
  </ul>`
}

/** Text of any origin: isolated, so that it cannot reorder what is around it, and without invisible characters. */
export function textOf(text: string): Html {
  return html`<bdi class="text">${shownLines(text)}</bdi>`
}

export function labelOf(name: string): string {
  return plainLabelOf(visible(name))
}
