import { dateOfInstant } from '@agent-exchange/protocol'
import { exactTime, html, relativeTime, visible, type Html } from '@agent-exchange/web'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const YEAR_LENGTH = 4

/**
 * Times that another company or the exchange wrote. They follow RFC 3339, which permits what `new Date(text)` does not,
 * such as leap seconds. Other texts are shown as they are.
 */
export function minute(text: string): Html {
  return timeElement(text, (exact) => `${exact.slice(0, 16).replace('T', ' ')} UTC`)
}

/** Such as "18 Nov, 18:05"; with the year if it differs from that of `near`. The title has the whole time. */
export function shortTime(text: string, near: string): Html {
  const year = dateOfInstant(near)?.toISOString().slice(0, YEAR_LENGTH)
  return timeElement(text, (exact) => {
    const [, month = '', date = ''] = /^.+?-(\d\d)-(\d\d)T/u.exec(exact) ?? []
    const shownYear = exact.startsWith(`${year}-`) ? '' : ` ${exact.slice(0, YEAR_LENGTH)}`
    return `${Number(date)} ${MONTHS[Number(month) - 1]}${shownYear}, ${exact.slice(11, 16)}`
  })
}

/** A day in UTC. */
export function day(text: string): Html {
  return timeElement(text, (exact) => exact.slice(0, 10))
}

/** To the second. */
export function second(text: string): Html {
  const at = dateOfInstant(text)
  return at ? exactTime(at) : asWritten(text)
}

/** As the distance from now. */
export function ago(text: string, now: Date): Html {
  const at = dateOfInstant(text)
  return at ? relativeTime(at, now) : asWritten(text)
}

function timeElement(text: string, shown: (exact: string) => string): Html {
  const exact = dateOfInstant(text)?.toISOString()
  if (exact === undefined) return asWritten(text)
  const title = exact.replace('T', ' ').replace(/\.\d+Z$/u, ' UTC')
  return html`<time datetime="${exact}" title="${title}">${shown(exact)}</time>`
}

function asWritten(text: string): Html {
  return html`<bdi>${visible(text)}</bdi>`
}
