import { el } from './elements.js'
import { examplesOf } from './examples.js'
import { addressOf, curlLine, headersOf, randomUuid } from './request.js'

const TIMEOUT_MS = 30_000
/** More than this helps nobody on a page. */
const MAXIMUM_SHOWN_CHARACTERS = 200_000

/** A form that sends one operation with what is typed in, and shows the answer and the same call for a shell. */
export function tryForm(context, { method, path, operation, parameters }) {
  const values = new Map()
  const curl = el('pre', { tabindex: '0', 'aria-label': 'The same call for a shell' })
  const answer = el('div', { class: 'answer', 'aria-live': 'polite' })
  const editor = bodyEditor(context, operation, () => update())
  const call = () => ({ method, path, parameters, values, body: editor?.value() })
  const update = () => {
    curl.textContent = curlLine({ ...call(), base: context.description.servers[0].url })
  }
  const fields = parameters.map((parameter) => field(operation, parameter, values, update))
  const send = el('button', { type: 'submit', class: 'primary' }, 'Send')
  const form = el(
    'form',
    {
      class: 'try',
      submit: async (event) => {
        event.preventDefault()
        send.disabled = true
        answer.replaceChildren(...(await perform(context, call())))
        send.disabled = false
      },
    },
    ...fields,
    ...(editor ? [editor.element] : []),
    el('p', {}, send),
    el('h4', {}, 'For a shell'),
    curl,
    answer,
  )
  update()
  return form
}

function field(operation, parameter, values, update) {
  const { name, in: place, required, schema = {} } = parameter
  const id = `${operation.operationId}-${name}`
  const isHeader = place === 'header'
  const input = el('input', {
    id,
    required,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: isHeader ? undefined : (schema.description ?? `in the ${place}`),
    input: () => {
      values.set(name, input.value)
      update()
    },
  })
  const renew = () => {
    input.value = randomUuid()
    values.set(name, input.value)
  }
  if (isHeader) renew()
  const onClick = () => {
    renew()
    update()
  }
  const button = el('button', { type: 'button', click: onClick, 'aria-label': `New ${name}` }, 'New')
  const label = el('label', { for: id }, el('code', {}, name), required ? '' : ' (optional)')
  return el(
    'p',
    { class: 'field' },
    label,
    el('span', { class: 'row' }, input, ...(isHeader ? [button] : [])),
  )
}

/** Starts with the example; where a body has several forms, each of them can be chosen. */
function bodyEditor({ description }, operation, update) {
  const examples = examplesOf(description, operation.requestBody?.content['application/json'])
  if (examples.length === 0) return undefined
  const id = `${operation.operationId}-body`
  const area = el('textarea', { id, rows: '14', spellcheck: 'false', autocomplete: 'off', input: update })
  area.value = examples[0].text
  const choose = el('select', {
    'aria-label': 'Form of the body',
    change: () => {
      area.value = examples[choose.selectedIndex].text
      update()
    },
  })
  choose.append(...examples.map(({ name }) => el('option', {}, name)))
  const label = el(
    'label',
    { for: id },
    'Body ',
    el('span', { class: 'quiet' }, '(the example: put in your own ids, times and signatures)'),
  )
  const element = el('div', { class: 'field' }, label, ...(examples.length > 1 ? [choose] : []), area)
  return { element, value: () => area.value }
}

async function perform(context, call) {
  const headers = new Headers()
  const started = performance.now()
  try {
    for (const [name, value] of headersOf(call)) headers.set(name, value)
    const token = context.token()
    if (token !== '') headers.set('Authorization', `Bearer ${token}`)
    const response = await fetch(addressOf(call), {
      method: call.method,
      headers,
      body: call.body,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return answerView(response, await response.text(), Math.round(performance.now() - started))
  } catch (error) {
    return [el('h4', {}, 'No answer'), el('p', { class: 'bad' }, String(error))]
  }
}

function answerView(response, text, milliseconds) {
  const tone = response.ok ? 'good' : 'bad'
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  return [
    el('h4', {}, 'Answer'),
    el('p', { class: tone }, `${response.status} ${response.statusText} in ${milliseconds} ms`),
    el('pre', { tabindex: '0', 'aria-label': 'Headers of the answer' }, headers.join('\n')),
    el('pre', { tabindex: '0', 'aria-label': 'Body of the answer' }, readable(text)),
  ]
}

function readable(text) {
  const shown =
    text.length > MAXIMUM_SHOWN_CHARACTERS ? `${text.slice(0, MAXIMUM_SHOWN_CHARACTERS)}\n…` : text
  try {
    return JSON.stringify(JSON.parse(shown), undefined, 2)
  } catch {
    return shown
  }
}
