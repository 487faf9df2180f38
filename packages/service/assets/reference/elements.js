/**
 * Makes an element. Strings become text nodes, never markup, and listeners are functions, never text: what the
 * exchange answers can be shown as it is.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name, value)
    else element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children)
  return element
}

/** A disclosure whose inside is made when it is first opened: schemas may refer to each other without end. */
export function disclosure(summary, makeInside, { open = false, ...attributes } = {}) {
  const details = el('details', attributes, el('summary', {}, ...summary))
  let made = false
  const fill = () => {
    if (made) return
    made = true
    details.append(...makeInside())
  }
  details.addEventListener('toggle', () => details.open && fill())
  if (open) {
    fill()
    details.open = true
  }
  return details
}

/** One badge for each open point that a note names; `meanings` says what the point is about. */
export function badges(note, meanings) {
  return idsOf(note).map((id) =>
    el(
      'a',
      { class: 'ours', href: `open-points/#${id.toLowerCase()}`, title: meanings.get(id) ?? '' },
      `ours: ${id}`,
    ),
  )
}

/** The same for a summary, which must not contain links: `linkedBadges` repeats them inside the disclosure. */
export function badgeTexts(note, meanings) {
  return idsOf(note).map((id) => el('span', { class: 'ours', title: meanings.get(id) ?? '' }, `ours: ${id}`))
}

export function linkedBadges(note, meanings) {
  const links = badges(note, meanings)
  return links.length > 0 ? [el('p', {}, ...links)] : []
}

function idsOf(note) {
  return (note ?? '').split(' ').filter((id) => id !== '')
}
