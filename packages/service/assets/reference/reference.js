import { el } from './elements.js'
import { operationView } from './operation-view.js'
import { resolve } from './schema-facts.js'

const byId = (id) => document.getElementById(id)

async function read(address) {
  const response = await fetch(address, { headers: { Accept: 'application/json' }, credentials: 'omit' })
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  return await response.json()
}

/** The operations of the description, in its order, then what it sends by itself. */
function operationsOf(description) {
  const entriesOf = (items, isWebhook) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(resolve(description, item)).map(([method, operation]) => ({
        id: operation.operationId ?? path,
        path: isWebhook ? 'the url of your endpoint' : path,
        method: method.toUpperCase(),
        operation,
        isWebhook,
        parameters: operation.parameters.map((parameter) => resolve(description, parameter)),
      })),
    )
  return [...entriesOf(description.paths, false), ...entriesOf(description.webhooks ?? {}, true)]
}

/** One group in the contents and one on the page; what belongs to an operation is hidden and shown together. */
function group(context, { name, description }, entries) {
  const rows = entries.map((entry) => {
    const { id, operation, method, path, parameters } = entry
    const words = [id, method, path, operation.summary, name, ...parameters.map((p) => p.name)]
    const link = el('a', { href: `#${id}`, title: `${method} ${path}` }, id)
    return {
      text: words.join(' ').toLowerCase(),
      isWebhook: entry.isWebhook,
      parts: [el('li', {}, link), operationView(context, entry)],
    }
  })
  const heading = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ')
  const contents = el('div', {}, el('h2', {}, heading), el('ul', {}, ...rows.map(({ parts }) => parts[0])))
  const section = el(
    'section',
    { class: 'group' },
    el('h2', {}, heading),
    el('p', { class: 'quiet' }, description),
    ...rows.map(({ parts }) => parts[1]),
  )
  return { rows, contents, section }
}

function search(groups, query) {
  const words = query.toLowerCase().split(/\s+/u)
  let found = 0
  for (const { rows, contents, section } of groups) {
    const shown = rows.filter(({ text, parts }) => {
      const matches = words.every((word) => text.includes(word))
      for (const part of parts) part.hidden = !matches
      return matches
    })
    contents.hidden = section.hidden = shown.length === 0
    found += shown.filter(({ isWebhook }) => !isWebhook).length
  }
  byId('found').textContent = `${found} ${found === 1 ? 'operation' : 'operations'}`
}

/** An address with a fragment leads to that operation, opened. */
function openNamed() {
  const target = byId(decodeURIComponent(location.hash.slice(1)))
  if (!target?.classList.contains('operation')) return
  target.hidden = target.parentElement.hidden = false
  target.open = true
  target.scrollIntoView()
  target.querySelector('summary').focus({ preventScroll: true })
}

function watchKeys(field) {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select')
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    field.focus()
  })
}

async function start() {
  const [description, points, problems] = await Promise.all(
    ['openapi.json', 'open-points/', 'problems/'].map(read),
  )
  const token = byId('token')
  byId('forget').addEventListener('click', () => {
    token.value = ''
    token.focus()
  })
  const context = {
    description,
    meanings: new Map(points.map(({ id, meaning }) => [id, meaning])),
    problems: new Map(problems.map((problem) => [problem.code, problem])),
    token: () => token.value.trim(),
  }
  const operations = operationsOf(description)
  const groups = description.tags.map((tag) =>
    group(
      context,
      tag,
      operations.filter(({ operation }) => operation.tags.includes(tag.name)),
    ),
  )
  document.querySelector('h1').textContent = `${description.info.title} ${description.info.version}`
  byId('introduction').textContent = description.info.description.replaceAll('`', '')
  byId('contents').append(...groups.map(({ contents }) => contents))
  byId('operations').replaceChildren(...groups.map(({ section }) => section))
  const field = byId('search')
  field.addEventListener('input', () => search(groups, field.value.trim()))
  search(groups, field.value.trim())
  watchKeys(field)
  window.addEventListener('hashchange', openNamed)
  openNamed()
}

start().catch((error) => {
  byId('loading').textContent = `The description could not be read: ${error.message}`
})
