import { html, type Html } from '../template/html.ts'

export interface LiveRegion {
  /** Unique on the page. */
  readonly id: string
  /** Address of an event stream whose event `changed` means that the page has something new. */
  readonly stream: string
  readonly content: Html
}

/** A part of the page that the script replaces when the server has something new. Without script: reload. */
export function liveRegion({ id, stream, content }: LiveRegion): Html {
  return html`<div id="${id}" data-live="${stream}">${content}</div>`
}
